import { alignSglang, alignVllm, firstDifference, type ScoredIds } from './align-log-probs';
import { TeacherRefusal } from './teacher-refusal';

type Entry = Record<string, { logprob: unknown; rank?: number }> | null;

/** An entry with the id itself and a likelier one. */
const entry = (id: number, logprob: unknown): Entry => ({ '999': { logprob: -0.01 }, [id]: { logprob } });
/** Prompt [1, 2], sampled [7, 8, 9]. */
const ids = Int32Array.of(1, 2, 7, 8, 9);
const scored = (topK = 0): ScoredIds => ({ ids, promptLength: 2, topK });
const prompt = [null, entry(2, -1)];

/** Why it is refused; null when it is not. */
function reasonOf(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof TeacherRefusal) return error.reason;
    throw error;
  }
}

describe('alignVllm', () => {
  it('D25: takes the sampled ids’ own entries, the first one included', () => {
    const entries = [...prompt, entry(7, -0.5), entry(8, -0.25), entry(9, -0.75)];
    expect([...alignVllm(entries, scored()).logProbs]).toEqual([-0.5, -0.25, -0.75]);
  });
  it.each([
    { name: 'one entry short', entries: [...prompt, entry(7, -1), entry(8, -1)], reason: 'length-mismatch' },
    {
      name: 'one entry too many',
      entries: [...prompt, entry(7, -1), entry(8, -1), entry(9, -1), entry(9, -1)],
      reason: 'length-mismatch',
    },
    {
      name: 'another id at a position',
      entries: [...prompt, entry(7, -1), entry(5, -1), entry(9, -1)],
      reason: 'ids-mismatch',
    },
    {
      name: 'D30: another id in the prompt',
      entries: [null, entry(3, -1), entry(7, -1), entry(8, -1), entry(9, -1)],
      reason: 'ids-mismatch',
    },
    { name: 'a null entry', entries: [...prompt, null, entry(8, -1), entry(9, -1)], reason: 'ids-mismatch' },
    { name: 'a null log-prob', entries: [...prompt, entry(7, null), entry(8, -1), entry(9, -1)], reason: 'non-finite' },
    {
      name: 'a log-prob in words',
      entries: [...prompt, entry(7, '-1'), entry(8, -1), entry(9, -1)],
      reason: 'non-finite',
    },
    {
      name: 'D23: −9999 is −∞',
      entries: [...prompt, entry(7, -9999), entry(8, -1), entry(9, -1)],
      reason: 'non-finite',
    },
    { name: 'a positive value', entries: [...prompt, entry(7, 0.5), entry(8, -1), entry(9, -1)], reason: 'non-finite' },
    { name: 'entries that are no objects', entries: [null, 1, 2, 3, 4], reason: 'ids-mismatch' },
  ])('refuses $name', ({ entries, reason }) => {
    expect(reasonOf(() => alignVllm(entries, scored()))).toBe(reason);
  });

  const ranked = (...pairs: [number, number][]): Entry =>
    Object.fromEntries(pairs.map(([id, logprob], i) => [id, { logprob, rank: i + 1 }]));

  it('keeps exactly the K best: the sampled id that comes beyond them is none of them', () => {
    const entries = [
      ...prompt,
      ranked([5, -0.25], [7, -0.5]),
      ranked([5, -0.25], [6, -0.5], [8, -4]),
      ranked([9, -0.125], [4, -0.75]),
    ];
    const { logProbs, topK } = alignVllm(entries, scored(2));
    expect([...logProbs]).toEqual([-0.5, -4, -0.125]);
    expect(topK).toEqual({
      k: 2,
      ids: Int32Array.of(5, 7, 5, 6, 9, 4),
      logProbs: Float32Array.of(-0.25, -0.5, -0.25, -0.5, -0.125, -0.75),
    });
  });
  it('orders equally likely ids by id, whatever order the engine lists them in', () => {
    const entries = [...prompt, entry(7, -1), ranked([30, -1], [8, -1], [12, -1]), entry(9, -1)];
    expect([...alignVllm(entries, scored(2)).topK!.ids].slice(2, 4)).toEqual([8, 12]);
  });
  it.each([
    { name: 'fewer than K', row: ranked([7, -1]), reason: 'length-mismatch' },
    { name: 'a null among the best', row: { 7: { logprob: -1 }, 8: { logprob: null } }, reason: 'non-finite' },
    { name: 'D23: −9999 among the best', row: ranked([7, -1], [8, -9999]), reason: 'non-finite' },
    { name: 'a candidate that is null', row: { 7: { logprob: -1 }, 8: null }, reason: 'non-finite' },
  ])('refuses a top-K row with $name', ({ row, reason }) => {
    expect(reasonOf(() => alignVllm([...prompt, row, entry(8, -1), entry(9, -1)], scored(2)))).toBe(reason);
  });
});

describe('alignSglang', () => {
  const own = [
    [null, 2],
    [-0.5, 7, null],
    [-0.625, 8, null],
    [-0.75, 9, null],
  ];
  it('D25: drops the prompt’s last id and nothing else', () => {
    expect([...alignSglang({ input_token_logprobs: own }, scored()).logProbs]).toEqual([-0.5, -0.625, -0.75]);
  });
  it.each([
    {
      name: 'R entries, as the original asked for',
      entries: [
        [null, 7],
        [-1, 8],
        [-1, 9],
      ],
      reason: 'length-mismatch',
    },
    {
      name: 'a shifted list',
      entries: [
        [null, 7],
        [-1, 8],
        [-1, 9],
        [-1, 4],
      ],
      reason: 'ids-mismatch',
    },
    {
      name: 'a null after the first',
      entries: [
        [null, 2],
        [null, 7],
        [-1, 8],
        [-1, 9],
      ],
      reason: 'non-finite',
    },
    { name: 'no list', entries: undefined, reason: 'length-mismatch' },
    { name: 'entries that are no triples', entries: [[null, 2], -1, -1, -1], reason: 'ids-mismatch' },
  ])('refuses $name', ({ entries, reason }) => {
    expect(reasonOf(() => alignSglang({ input_token_logprobs: entries }, scored()))).toBe(reason);
  });
  it('D30: refuses an answer about fewer ids than were sent, as of a server that cuts long prompts', () => {
    expect(reasonOf(() => alignSglang({ input_token_logprobs: own, prompt_tokens: 4 }, scored()))).toBe('ids-mismatch');
  });

  const rows = [
    null,
    [
      [-0.25, 5, null],
      [-0.5, 7, null],
    ],
    [
      [-0.25, 5, null],
      [-0.5, 6, null],
    ],
    [
      [-0.125, 9, null],
      [-0.75, 4, null],
    ],
  ];
  it('reads the K most likely ids of each position', () => {
    const { topK } = alignSglang({ input_token_logprobs: own, input_top_logprobs: rows }, scored(2));
    expect(topK).toEqual({
      k: 2,
      ids: Int32Array.of(5, 7, 5, 6, 9, 4),
      logProbs: Float32Array.of(-0.25, -0.5, -0.25, -0.5, -0.125, -0.75),
    });
  });
  it.each([
    { name: 'are missing', top: undefined, reason: 'length-mismatch' },
    { name: 'are one too few', top: rows.slice(1), reason: 'length-mismatch' },
    { name: 'have a null row', top: [null, null, rows[2], rows[3]], reason: 'length-mismatch' },
    { name: 'have a short row', top: [null, [[-0.5, 7, null]], rows[2], rows[3]], reason: 'length-mismatch' },
  ])('refuses top rows that $name', ({ top, reason }) => {
    expect(reasonOf(() => alignSglang({ input_token_logprobs: own, input_top_logprobs: top }, scored(2)))).toBe(reason);
  });
});

it.each([
  { left: [1, 2], right: [1, 2], at: -1 },
  { left: [1, 2], right: [1, 3], at: 1 },
  { left: [1, 2], right: [1, 2, 3], at: 2 },
  { left: [], right: [], at: -1 },
])('$left and $right differ first at $at', ({ left, right, at }) => {
  expect(firstDifference(left, right)).toBe(at);
});
