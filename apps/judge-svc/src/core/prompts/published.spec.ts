import { parseEvalVote, parseHintVote } from '@hindcast/advantage';
import { createHash } from 'node:crypto';
import { evalPrompt, hintPrompt, type JudgePrompt } from '../prompts';
import { current, published } from './published';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Of every version ever published. A row is added, never changed: an old vote was given to this very text. */
const CHECKSUMS: Readonly<Record<string, string>> = {
  'eval-v2': 'd241885cec93236c12eae3dbbb0ffbcb767e9de6d21ae40aca3ae27f16324b97',
  'hint-v2': 'c7e95d296a88d61c4457a50979e010b8748bda51231663f665c40dd4caf91a21',
};

/** Of a whole prompt of the current versions: the frame is part of what a version means. */
const FRAMES: Readonly<Record<string, string>> = {
  'eval-v2': 'aa9dbeabe20b1006be599483639e3ba12522a3bcb982e129a9ee9fff32e0662e',
  'hint-v2': '23f6e97826a982394c2c7738feaba77f7f6a5246326672ff40a9525fa0aa8140',
};

it.each(Object.entries(published))('%s is the text that was published', (version, text) => {
  expect(text.version).toBe(version);
  expect(sha256(`${text.system}\n\n${text.closing}`)).toBe(CHECKSUMS[version]);
});

it('no version is missing, and every current one is published', () => {
  expect(Object.keys(published).sort()).toEqual(Object.keys(CHECKSUMS).sort());
  expect(Object.values(current).map(({ version }) => version)).toEqual(['eval-v2', 'hint-v2']);
});

it.each([evalPrompt, hintPrompt])('the frame around the quotation is the published one (%p)', (prompt) => {
  const turn = {
    responseId: 'r',
    sessionId: null,
    policyVersion: 0,
    conversation: [{ role: 'user' as const, text: 'How far is the moon?', toolName: null }],
    answer: 'Very far.',
    nextState: [
      { role: 'tool' as const, text: '384,400 km', toolName: 'search' },
      { role: 'user' as const, text: 'Thanks!', toolName: null },
    ],
    truncated: false,
    outcomePending: false,
    groundTruth: null,
  };
  const { user, version }: JudgePrompt = prompt(turn, '0123456789abcdef');
  expect(sha256(user)).toBe(FRAMES[version]);
});

it.each(Object.values(published))(
  'a judge that repeats its instructions has not voted ($version)',
  ({ system, closing }) => {
    for (const text of [system, closing, system + closing]) {
      expect(parseEvalVote(text)).toBeNull();
      expect(parseHintVote(text).score).toBeNull();
      expect(parseHintVote(text).hint.length).toBeLessThan(11);
    }
  },
);
