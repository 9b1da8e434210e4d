import { decisionWords, isLate, missingTexts } from './turn-words';

describe('a decision in words', () => {
  it('says what trains', () => {
    expect(decisionWords({ case: 'opdRl', reward: -1, reason: null })).toContain('reward −1');
    expect(decisionWords({ case: 'rl', reward: 0.5, reason: null })).toContain('0.50');
    expect(decisionWords({ case: 'opd', reward: 0, reason: null })).toContain('teacher’s signal alone');
  });

  it('says why not', () =>
    expect(decisionWords({ case: 'drop', reward: null, reason: 'no-signal' })).toBe(
      'Dropped. Neither a reward that is not 0, nor a hint.',
    ));

  it('says what is special, also of a reason without words', () => {
    expect(decisionWords({ case: 'rl', reward: 1, reason: 'teacher:too-long' })).toContain('does not fit');
    expect(decisionWords({ case: 'drop', reward: null, reason: 'new' })).toBe('Dropped. Reason: new.');
  });
});

describe('a turn without texts', () => {
  it('waits for them while it is open, and has lost them later', () => {
    expect(missingTexts({ state: 'open' }).answer).toContain('next message');
    expect(missingTexts({ state: 'closed' }).answer).toBe('no texts kept');
  });
});

it.each([
  ['open', false],
  ['paired', false],
  ['judged', false],
  ['decided', true],
  ['trained', true],
  ['closed', true],
] as const)('feedback on a turn that is %s is late: %s', (state, late) => expect(isLate({ state })).toBe(late));
