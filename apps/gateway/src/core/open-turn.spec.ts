import { turnToPair, withEnding, withTurn, withoutTurn, type Ending, type OpenTurn } from './open-turn';

const turn = (turnId: string, sessionId: string | null = null): OpenTurn => ({
  turnId,
  tenant: 't',
  sessionId,
  promptHash: 'p',
  openedAt: 1,
  captured: {
    responseId: turnId,
    sessionId,
    policyVersion: 0,
    model: 'seed',
    promptTokens: 1,
    completionTokens: 1,
    finishReason: 'stop',
    untrainable: null,
  },
  announced: true,
  ending: null,
});
const closed: Ending = { kind: 'closed', at: 2, by: 'x', body: { reason: 'expired', detail: null } };

describe('turnToPair', () => {
  it.each([
    { why: 'the oldest first', turns: [turn('1'), turn('2')], session: null, expected: '1' },
    { why: 'its own session first', turns: [turn('1'), turn('2', 'a')], session: 'a', expected: '2' },
    { why: 'a turn without a session', turns: [turn('1', 'b'), turn('2')], session: 'a', expected: '2' },
    { why: 'D2 never one of another session', turns: [turn('1', 'b')], session: 'a', expected: undefined },
    { why: 'any when the request names none', turns: [turn('1', 'b'), turn('2')], session: null, expected: '1' },
    {
      why: 'not one that has its ending',
      turns: [{ ...turn('1'), ending: closed }, turn('2')],
      session: null,
      expected: '2',
    },
  ])('$why', ({ turns, session, expected }) => {
    expect(turnToPair(turns, session)?.turnId).toBe(expected);
  });
});

describe('lists of open turns', () => {
  it('adding twice adds once, removing twice removes once', () => {
    const turns = withTurn(withTurn([], turn('1')), turn('1'));
    expect(turns).toHaveLength(1);
    expect(withoutTurn(withoutTurn(turns, '1'), '1')).toEqual([]);
  });
  it('the first ending stays', () => {
    const superseded: Ending = { ...closed, body: { reason: 'superseded', detail: null } };
    expect(withEnding(withEnding([turn('1')], '1', closed), '1', superseded)[0]!.ending).toBe(closed);
  });
});
