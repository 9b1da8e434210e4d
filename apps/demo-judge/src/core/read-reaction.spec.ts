import { complaints, neutralReplies, thanks, vagueComplaints, wishes } from '@hindcast/seed-world';
import { readReaction } from './read-reaction';

describe('every reply of the world is read as it is meant', () => {
  it.each(wishes.flatMap((wish) => complaints[wish].map((text) => ({ wish, text }))))(
    '$text → $wish',
    ({ wish, text }) => {
      expect(readReaction(text)).toEqual({ verdict: 'rejects', wish });
    },
  );
  it.each([...vagueComplaints])('%s → rejected, no wish named', (text) => {
    expect(readReaction(text)).toEqual({ verdict: 'rejects', wish: null });
  });
  it.each([...thanks])('%s → approved', (text) =>
    expect(readReaction(text)).toEqual({ verdict: 'approves', wish: null }),
  );
  it.each([...neutralReplies])('%s → neutral', (text) =>
    expect(readReaction(text)).toEqual({ verdict: 'neutral', wish: null }),
  );
});

it('what no rule knows is neutral', () => {
  expect(readReaction('The weather is fine.')).toEqual({ verdict: 'neutral', wish: null });
  expect(readReaction('')).toEqual({ verdict: 'neutral', wish: null });
});
