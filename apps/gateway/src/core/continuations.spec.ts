import { createHash } from 'node:crypto';
import { continuationsOf } from './continuations';
import { prefixIdentities } from './request-identity';

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
