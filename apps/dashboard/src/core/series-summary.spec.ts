import { summaryOf, summaryText } from './series-summary';

describe('the summary of a series', () => {
  it('knows last, lowest and highest, and how many are missing', () => {
    expect(summaryOf([2, null, -1, 3, 1, null])).toEqual({ last: 1, lastAt: 4, min: -1, max: 3, missing: 2 });
  });

  it('is nothing where there is no number', () => {
    expect(summaryOf([null])).toBeNull();
    expect(summaryOf([])).toBeNull();
  });

  it('reads as a sentence per line', () => {
    const lines = [
      { label: 'total', values: [0.5, 0.25] },
      { label: 'KL term', values: [null, 0] },
      { label: 'top-K', values: [null, null] },
    ];
    expect(summaryText(lines, ['step 8', 'step 9'], 'nats')).toBe(
      'total: last 0.25 nats at step 9, lowest 0.25, highest 0.5. ' +
        'KL term: last 0 nats at step 9, lowest 0, highest 0, none at 1 of 2. top-K: no number.',
    );
  });
});
