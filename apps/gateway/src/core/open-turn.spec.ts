import type { PairedTurn } from '@hindcast/contracts';
import {
  editedTurn,
  supersededBy,
  turnToPair,
  withEnding,
  withEndings,
  withTurn,
  withoutTurn,
  type Ending,
  type OpenTurn,
  type SessionTurn,
} from './open-turn';

const turn = (turnId: string, sessionId: string | null = null, context = 'c'): OpenTurn => ({
  turnId,
  tenant: 't',
  sessionId,
  context,
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
    userId: null,
    outcomePending: false,
  },
  announced: true,
  ending: null,
});
const paired = (
  by: string,
  nextState: PairedTurn['nextState'] = [{ role: 'user', text: 'more', toolName: null }],
): Ending => ({
  kind: 'paired',
  at: 2,
  by,
  body: {
    responseId: '1',
    sessionId: null,
    policyVersion: 0,
    conversation: [],
    answer: '',
    nextState,
    truncated: false,
    outcomePending: false,
    groundTruth: null,
  },
});
const closed: Ending = { kind: 'closed', at: 2, by: 'x', body: { reason: 'expired', detail: null } };

describe('turnToPair', () => {
  it.each([
    { why: 'the oldest first', turns: [turn('1'), turn('2')], session: null, expected: '1' },
    { why: 'its own session first', turns: [turn('1'), turn('2', 'a')], session: 'a', expected: '2' },
    { why: 'a turn without a session', turns: [turn('1', 'b'), turn('2')], session: 'a', expected: '2' },
    { why: 'D2 never one of another session', turns: [turn('1', 'b')], session: 'a', expected: undefined },
    {
      why: 'one without a session when the request names none',
      turns: [turn('1', 'b'), turn('2')],
      session: null,
      expected: '2',
    },
    { why: 'any when the request names none', turns: [turn('1', 'b')], session: null, expected: '1' },
    {
      why: 'not one that has its ending',
      turns: [{ ...turn('1'), ending: closed }, turn('2')],
      session: null,
      expected: '2',
    },
    {
      why: 'its own context before its own session',
      turns: [turn('1', 'a', 'x'), turn('2', null, 'c')],
      session: 'a',
      expected: '2',
    },
    {
      why: 'its own context before the oldest',
      turns: [turn('1', null, 'x'), turn('2')],
      session: null,
      expected: '2',
    },
    {
      why: 'the oldest where no context is its own',
      turns: [turn('1', null, 'x'), turn('2', null, 'y')],
      session: null,
      expected: '1',
    },
    {
      why: 'not one of another session, even in its context',
      turns: [turn('1', 'b')],
      session: 'a',
      expected: undefined,
    },
  ])('$why', ({ turns, session, expected }) => {
    const request = { id: 'r', sessionId: session, context: 'c', isKnown: false };
    expect(turnToPair(turns, request)?.turnId).toBe(expected);
  });
});

describe('an answer that is known to have been given in this session and context', () => {
  const known = (sessionId: string | null): string | undefined =>
    turnToPair([turn('1', null, 'x'), turn('2', 'a', 'c'), turn('3', null, 'c'), turn('4', 'b', 'c')], {
      id: 'r',
      sessionId,
      context: 'c',
      isKnown: true,
    })?.turnId;
  it('is continued only there', () => {
    expect([known(null), known('a'), known('z')]).toEqual(['3', '2', undefined]);
  });
});

describe('a request that comes again', () => {
  const request = { id: 'r', sessionId: null, context: 'c', isKnown: true };
  it('is left nothing that was open when it came first, and that another request may still continue', () => {
    const [first, ...rest] = withEndings([turn('1'), turn('2')], turn('1'), paired('r'));
    expect(first!.ending?.kind).toBe('paired');
    expect(turnToPair(rest, request)).toBeNull();
    expect(turnToPair(rest, { ...request, id: 's' })?.turnId).toBe('2');
  });
  it('a turn remembers the latest that passed it by', () => {
    const passed = Array.from({ length: 20 }, (_, index) => `r${index}`).reduce<readonly OpenTurn[]>(
      (turns, id) => withEndings([turn('x'), ...turns.filter(({ turnId }) => turnId === '2')], turn('x'), paired(id)),
      [turn('2')],
    );
    expect(passed[1]!.passedBy).toEqual(Array.from({ length: 8 }, (_, index) => `r${index + 12}`));
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

describe('editedTurn', () => {
  const known = (turnId: string, over: Partial<SessionTurn> = {}): SessionTurn => ({
    turnId,
    key: 'k',
    attempt: turnId,
    context: 'c',
    exchange: 'e',
    length: 3,
    asked: turnId,
    ...over,
  });
  it.each([
    { why: 'the same exchange in the same context', turns: [known('1')], length: 3, expected: '1' },
    { why: 'another exchange', turns: [known('1', { exchange: 'f' })], length: 3, expected: undefined },
    { why: 'another context, no shorter', turns: [known('1', { context: 'd' })], length: 3, expected: undefined },
    { why: 'a summary in the system message', turns: [known('1', { context: 'd' })], length: 1, expected: '1' },
    {
      why: 'an exchange known from its own context',
      turns: [known('1', { context: 'd' })],
      length: 1,
      isKnown: true,
      expected: undefined,
    },
    { why: 'two that could be meant', turns: [known('1'), known('2')], length: 3, expected: undefined },
    { why: 'an answer to the request itself', turns: [known('1', { asked: 'r' })], length: 3, expected: undefined },
    {
      why: 'an answer to the request itself beside the one that it continues',
      turns: [known('1'), known('2', { asked: 'r' })],
      length: 3,
      expected: '1',
    },
    {
      why: 'a turn of an older gateway, which does not say what was asked',
      turns: [{ turnId: '1', key: 'k', attempt: '1', context: 'c', exchange: 'e', length: 3 }],
      length: 3,
      expected: '1',
    },
    {
      why: 'choices of one request with the same text',
      turns: [known('1', { attempt: 'x' }), known('2', { attempt: 'x' })],
      length: 3,
      expected: '1',
    },
  ])('$why', ({ turns, length, isKnown = false, expected }) => {
    expect(editedTurn(turns, { exchange: 'e', length, asked: 'r', isKnown }, 'c')?.turnId).toBe(expected);
  });
});

describe('choices of one response', () => {
  const chosen = { ...turn('1'), siblings: [{ turnId: '2', key: 'k' }] };

  it('the others under the same key end in the same write, a stranger there does not', () => {
    const turns = withEndings([chosen, turn('2'), turn('3')], chosen, paired('x'));
    expect(turns.map(({ ending }) => ending && ending.kind)).toEqual(['paired', 'closed', null]);
  });
  it('feedback on one says nothing of the others', () => {
    expect(supersededBy(chosen, paired('feedback', []))).toBeNull();
    expect(supersededBy(chosen, closed)).toBeNull();
  });
});
