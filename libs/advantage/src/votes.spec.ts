import fc from 'fast-check';
import vectors from './reference-vectors.json';
import {
  isTrainableScore,
  majorityScore,
  parseEvalVote,
  parseHintVote,
  quorateScore,
  selectHint,
  type ParsedHintVote,
  type Score,
} from './votes';

describe('vote parsing against the reference vectors', () => {
  it.each(vectors.parse_eval as [string, Score | null][])('parse_eval: %j → %s', (text, score) => {
    expect(parseEvalVote(text)).toBe(score);
  });
  it.each(vectors.parse_hint as [string, [-1 | 1 | null, string]][])('parse_hint: %j', (text, [score, hint]) => {
    expect(parseHintVote(text)).toEqual({ score, hint });
  });
});

describe('parseEvalVote', () => {
  it.each([
    { text: '\\boxed{１}', score: null, why: 'a full-width digit is no ASCII digit (stated deviation)' },
    { text: '\\boxed{1}\n\\boxed{0}', score: 0, why: 'the last box decides' },
    { text: '\\boxed{-0}', score: 0, why: 'minus zero is zero' },
  ])('$text → $score: $why', ({ text, score }) => {
    expect(parseEvalVote(text)).toBe(score);
  });
  it('never yields a score from text without a box', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        fc.pre(!text.includes('\\boxed{'));
        expect(parseEvalVote(text)).toBeNull();
        expect(parseHintVote(text).score).toBeNull();
      }),
    );
  });
});

const thought = '<think>Is it \\boxed{-1}? [HINT_START] a hint that was only thought [HINT_END]</think>';

describe('a judge that thinks', () => {
  it.each<{ text: string; score: Score | null; hint: string; why: string }>([
    { text: `${thought} \\boxed{1}`, score: 1, hint: '', why: 'a thought box does not vote' },
    { text: `\\boxed{1} ${thought}`, score: 1, hint: '', why: 'wherever the thinking stands' },
    { text: `${thought} so \\boxed{1} ${thought}`, score: 1, hint: '', why: 'however often' },
    { text: thought, score: null, hint: '', why: 'it thought and said nothing' },
    { text: thought.slice(7) + '\\boxed{1}', score: 1, hint: '', why: 'the opening may stand in the prompt' },
    { text: '\\boxed{-1} hm </think>', score: null, hint: '', why: 'all before a lone end was thought' },
    { text: '<think>a</think>\\boxed{-1}</think>\\boxed{1}', score: 1, hint: '', why: 'also after a whole block' },
    { text: '\\boxed{1} <think> or is it', score: null, hint: '', why: 'it was cut off in its thoughts' },
    { text: `${thought} \\boxed{1} <think>`, score: null, hint: '', why: 'also the second time' },
    {
      text: `${thought} \\boxed{1} [HINT_START] read the file first [HINT_END]`,
      score: 1,
      hint: 'read the file first',
      why: 'a hint is what was said',
    },
    {
      text: '\\boxed{1} [HINT_START] a<think>b</think>c [HINT_END]',
      score: 1,
      hint: 'ac',
      why: 'nothing thought is in it',
    },
  ])('$text → $score, $why', ({ text, score, hint }) => {
    expect(parseEvalVote(text)).toBe(score);
    expect(parseHintVote(text)).toEqual({ score, hint });
  });
});

describe('a megabyte of garbage is read in one pass', () => {
  it.each(['[HINT_START]', '[HINT_END]', '</think>', '<think>', '\\boxed{', '\\boxed{1}', '<think></think>'])(
    'of %s',
    (part) => {
      const text = part.repeat(1_000_000 / part.length);
      expect(parseHintVote(text).hint).toBe('');
      expect(parseEvalVote(text)).toBe(part === '\\boxed{1}' ? 1 : null);
    },
  );
});

describe('majorityScore', () => {
  it.each(vectors.majority as [(Score | null)[], number][])('majority: %j → %d', (votes, score) => {
    expect(majorityScore(votes)).toBe(score);
  });
  it('does not depend on the order of the votes', () => {
    const votes = fc.array(fc.constantFrom<Score | null>(-1, 0, 1, null), { maxLength: 9 });
    fc.assert(fc.property(votes, (list) => expect(majorityScore([...list].reverse())).toBe(majorityScore(list))));
  });
});

describe('quorateScore', () => {
  it.each<{ votes: (Score | null)[]; quorum: number; score: Score; why: string }>([
    { votes: [1, 1, null], quorum: 2, score: 1, why: 'two can be read' },
    { votes: [1, null, null], quorum: 2, score: 0, why: 'one is too few, though it says 1' },
    { votes: [-1], quorum: 1, score: -1, why: 'one is enough' },
    { votes: [1, -1], quorum: 2, score: 0, why: 'enough of them, and a tie' },
    { votes: [], quorum: 1, score: 0, why: 'nobody voted' },
  ])('$votes with a quorum of $quorum: $score, $why', ({ votes, quorum, score }) => {
    expect(quorateScore(votes, quorum)).toBe(score);
  });
});

describe('selectHint', () => {
  it.each(vectors.select_hint as unknown as [ParsedHintVote[], string | null][])(
    'select_hint: %j → %j',
    (votes, hint) => {
      expect(selectHint(votes)).toBe(hint);
    },
  );
  it.each([
    { scores: [1, -1, -1], acceptance: 'any' as const, accepted: true, why: 'one positive vote is enough' },
    { scores: [1, -1, -1], acceptance: 'majority' as const, accepted: false, why: 'one of three is no majority' },
    { scores: [1, 1, -1], acceptance: 'majority' as const, accepted: true, why: 'two of three' },
    { scores: [1, -1], acceptance: 'majority' as const, accepted: false, why: 'a tie is no majority' },
    { scores: [1, null, null], acceptance: 'majority' as const, accepted: true, why: 'unreadable votes do not count' },
  ])('$acceptance of $scores: $why', ({ scores, acceptance, accepted }) => {
    const votes = scores.map((score) => ({ score, hint: 'say it without any list' }) as ParsedHintVote);
    expect(selectHint(votes, acceptance) !== null).toBe(accepted);
  });
  it('counts code points, not UTF-16 units', () => {
    expect(selectHint([{ score: 1, hint: '😀'.repeat(10) }])).toBeNull();
    expect(selectHint([{ score: 1, hint: '😀'.repeat(11) }])).toBe('😀'.repeat(11));
  });
});

describe('isTrainableScore', () => {
  // The reference's Python values, in order; `True` is deliberately not a score here.
  const values: unknown[] = [1, -1, 1.0, -1.0, 0, 0.0, null, true, 2, '1'];
  it.each(values.map((value, i) => ({ value, reference: vectors.valid_rl[i]![1] })))(
    'valid_rl: $value',
    ({ value, reference }) => {
      expect(isTrainableScore(value)).toBe(value === true ? false : reference);
    },
  );
});
