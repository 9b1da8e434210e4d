import { OpenedTurns } from './opened-turns';

it.each<{ why: string; opened: number; announced: readonly number[]; upTo: number }>([
  { why: 'none was opened', opened: 0, announced: [], upTo: 0 },
  { why: 'none is announced', opened: 2, announced: [], upTo: 0 },
  { why: 'all are', opened: 3, announced: [1, 2, 3], upTo: 3 },
  { why: 'in another order', opened: 3, announced: [3, 1, 2], upTo: 3 },
  { why: 'one is missing: those after it count for nothing', opened: 4, announced: [1, 3, 4], upTo: 1 },
])('is announced up to a number: $why', ({ opened, announced, upTo }) => {
  const turns = new OpenedTurns('g');
  for (let number = 1; number <= opened; number++) expect(turns.next()).toEqual({ gateway: 'g', number });
  for (const number of announced) turns.announced(number);
  expect(turns.announcedUpTo).toBe(upTo);
  for (let number = 1; number <= opened + 1; number++)
    expect([number, turns.isAnnounced(number)]).toEqual([number, announced.includes(number)]);
});
