/** One turn's votes are under way while another one's judgement is published. */
const FEWEST = 2;
/** Where no votes are asked, a turn takes a read and a write. */
const WITHOUT_VOTES = 16;

/**
 * Turns that one process takes at once: those that its calls suffice for. A process that took more would hold messages that another
 * one, with calls to spare, could work on.
 *
 * @param calls requests in flight at once
 * @param votes 2m, the votes of a turn
 */
export function turnsAtOnce(calls: number, votes: number): number {
  return votes === 0 ? WITHOUT_VOTES : Math.max(FEWEST, Math.ceil(calls / votes));
}
