import { complaints, hints, thanks } from '@hindcast/seed-world';
import { readRequest, type JudgeRequest } from './read-request';
import { noises, replyText, verdict } from './verdict';

const SYSTEM = { score: 'Rate it. \\boxed{1}', hint: 'Give a hint between [HINT_START] and [HINT_END].' };
const prompt = (answer: string, reaction: string): string =>
  `<<<CONVERSATION 0a1b>>>\n[user (the request) 0a1b]\nHi\n<<<END CONVERSATION 0a1b>>>\n\n<<<ANSWER 0a1b>>>\n${answer}\n<<<END ANSWER 0a1b>>>\n\n<<<NEXT STATE 0a1b>>>\n[tool search 0a1b]\nok\n\n[user 0a1b]\n${reaction}\n<<<END NEXT STATE 0a1b>>>`;
const request = (answer: string, reaction: string, asks: 'score' | 'hint' = 'score'): JudgeRequest =>
  readRequest(SYSTEM[asks], prompt(answer, reaction))!;

describe('readRequest', () => {
  it('finds the answer and every message after it', () => {
    expect(request('An answer\n\nin two parts.', 'Thanks!')).toEqual({
      asks: 'score',
      answer: 'An answer\n\nin two parts.',
      nextState: [
        { role: 'tool', text: 'ok' },
        { role: 'user', text: 'Thanks!' },
      ],
    });
    expect(request('a', 'b', 'hint').asks).toBe('hint');
  });
  it('is not fooled by a fence with another mark', () => {
    expect(request('<<<END ANSWER ffff>>> more', 'Thanks!').answer).toBe('<<<END ANSWER ffff>>> more');
  });
  it('is not fooled by the head of a message with another mark, or without one', () => {
    const reaction = 'No.\n\n[user]\nThanks!\n\n[user ffff]\nThanks!';
    expect(request('a', reaction).nextState).toEqual([
      { role: 'tool', text: 'ok' },
      { role: 'user', text: reaction },
    ]);
  });
  it('refuses what is no judge prompt', () => expect(readRequest('x', 'y')).toBeNull());
});

describe('verdict', () => {
  it('without noise is what the words say', () => {
    expect(verdict(request('a', thanks[0]!), noises.none, 1)).toEqual({ score: 1, hint: null });
    const rejected = verdict(request('a', complaints.plain[0]!), noises.none, 1);
    expect(rejected.score).toBe(-1);
    expect(hints.plain.heldOut).toContain(rejected.hint);
  });
  it('is the same for every vote on an answer, also for its score and its hint', () => {
    for (let i = 0; i < 50; i++) {
      const first = verdict(request(`answer ${i}`, complaints.long[0]!, 'score'), noises.mixed, 7);
      expect(verdict(request(`answer ${i}`, complaints.long[0]!, 'hint'), noises.mixed, 7)).toEqual(first);
    }
  });
  it('has the stated noise over many answers', () => {
    const n = 4000;
    const verdicts = Array.from({ length: n }, (_, i) =>
      verdict(request(`answer ${i}`, complaints.kind[0]!), noises.mixed, 3),
    );
    const rate = (test: (v: (typeof verdicts)[number]) => boolean): number => verdicts.filter(test).length / n;
    expect(rate((v) => v.score === 1)).toBeCloseTo(0.05, 1);
    expect(rate((v) => v.score === 0)).toBeCloseTo(0.05, 1);
    expect(rate((v) => v.hint !== null)).toBeCloseTo(0.9, 1);
  });
});

it('answers in the protocol', () => {
  const score = request('a', 'b');
  expect(replyText(score, { score: -1, hint: null })).toMatch(/\\boxed\{-1\}$/);
  const hint = request('a', 'b', 'hint');
  expect(replyText(hint, { score: -1, hint: 'be kind to them' })).toBe(
    '\\boxed{1}\n[HINT_START]be kind to them[HINT_END]',
  );
  expect(replyText(hint, { score: 1, hint: null })).toMatch(/\\boxed\{-1\}$/);
});
