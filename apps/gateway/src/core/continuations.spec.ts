import { createHash } from 'node:crypto';
import { asRemembered, continuationsOf, toRemember } from './continuations';
import type { Operation } from './operation';
import { askedHashes, prefixIdentities } from './request-identity';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
/** User and assistant in turn. */
const conversation = (...texts: string[]) => ({
  model: 'hindcast',
  messages: texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })),
});

/** Texts of the answers that may be the edited form of another, newest first, where these conversations were asked before. */
function editedAnswers(texts: readonly string[], ...asked: readonly (readonly string[])[]): string[] {
  const request = conversation(...texts);
  const hashOf = (before: readonly string[]): string =>
    prefixIdentities('t', conversation(...before), sha256).at(-1)!.conversation;
  const known = new Set(asked.map(hashOf));
  const memory = {
    wasAsked: (hash: string) => known.has(hash),
    wasShown: (hash: string) => known.has(hash),
    wasGiven: () => false,
  };
  return continuationsOf(request, prefixIdentities('t', request, sha256), true, memory, sha256)
    .filter(({ edited }) => edited !== null)
    .map(({ texts: { answer } }) => answer);
}

const ASKED = ['q1', 'a1', 'q2', 'a2', 'q3'];

it.each([
  { why: 'all of a history that was never asked', asked: [], expected: ['a2', 'a1'] },
  { why: 'none before an answer whose conversation was asked as it is', asked: [['q1', 'a1', 'q2']], expected: [] },
  { why: 'what was added after an edited beginning', asked: [['q1']], expected: ['a2'] },
  { why: 'none that a request before showed, as in a branch', asked: [ASKED.slice(0, 2)], expected: ['a2'] },
  { why: 'none of a request that comes again', asked: [ASKED], expected: [] },
])('edited answers are looked for: $why', ({ asked, expected }) => {
  expect(editedAnswers(ASKED, ...asked)).toEqual(expected);
});

describe('what a session remembers of requests at other gateways', () => {
  const atAnother = { wasAsked: () => false, wasShown: () => false, wasGiven: () => false };
  const operationOf = (texts: readonly string[]): Extract<Operation, { kind: 'continue' }> => {
    const request = conversation(...texts);
    const identities = prefixIdentities('t', request, sha256);
    const asked = askedHashes(identities.at(-1)!, sha256);
    const continuations = continuationsOf(request, identities, true, atAnother, sha256);
    return { kind: 'continue', id: 'r', sessionId: 's', asked, continuations };
  };

  it.each([
    { why: 'none', before: [], edited: ['a2', 'a1'], known: [] },
    { why: 'the conversation before an answer', before: [['q1', 'a1', 'q2']], edited: [], known: ['a2'] },
    { why: 'the first message', before: [['q1']], edited: ['a2'], known: ['a1'] },
    { why: 'the same request', before: [ASKED], edited: [], known: [] },
    { why: 'one that showed the same edited history', before: [['q1', 'a1', 'other']], edited: ['a2'], known: [] },
    {
      why: 'another conversation with the same message',
      before: [['q1', 'a0', 'q2']],
      edited: ['a2', 'a1'],
      known: ['a2'],
    },
  ])('$why', ({ before, edited, known }) => {
    const seen = new Set(before.flatMap((texts) => toRemember(operationOf(texts))));
    const found = asRemembered(operationOf(ASKED), (hash) => seen.has(hash));
    const answers = (of: typeof found): string[] => of.map(({ texts: { answer } }) => answer);
    expect(answers(found.filter((continuation) => continuation.edited !== null))).toEqual(edited);
    expect(answers(found.filter(({ isKnown }) => isKnown))).toEqual(known);
  });

  it('a message that was asked in the same context makes its exchange known', () => {
    const seen = new Set(toRemember(operationOf(['x', 'y', 'q2'])));
    const [newest, oldest] = asRemembered(operationOf(ASKED), (hash) => seen.has(hash));
    expect([newest!.edited?.isKnown, oldest!.edited?.isKnown]).toEqual([true, false]);
  });

  it('what was written without these hashes looks for no edited history', () => {
    const { asked: _asked, ...older } = operationOf(ASKED);
    expect(asRemembered(older, () => false).map(({ edited }) => edited)).toEqual([null, null]);
  });
});
