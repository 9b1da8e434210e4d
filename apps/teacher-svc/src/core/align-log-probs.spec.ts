import { alignSglang, alignVllm, firstDifference } from './align-log-probs';

const entry = (id: number, logprob: number | null): Record<string, { logprob: number | null }> => ({
  '999': { logprob: -0.01 },
  [id]: { logprob },
});
const ids = Int32Array.of(7, 8, 9);
const prompt = [null, entry(2, -1)];
const values = (alignment: ReturnType<typeof alignVllm>): number[] => (alignment.ok ? [...alignment.logProbs] : []);

describe('alignVllm', () => {
  it('D25: takes the sampled ids’ own entries, the first one included', () => {
    const entries = [...prompt, entry(7, -0.5), entry(8, -0.25), entry(9, -0.75)];
    expect(values(alignVllm(entries, 2, ids))).toEqual([-0.5, -0.25, -0.75]);
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
    { name: 'a null entry', entries: [...prompt, null, entry(8, -1), entry(9, -1)], reason: 'ids-mismatch' },
    { name: 'a null log-prob', entries: [...prompt, entry(7, null), entry(8, -1), entry(9, -1)], reason: 'non-finite' },
    {
      name: 'D23: −9999 is −∞',
      entries: [...prompt, entry(7, -9999), entry(8, -1), entry(9, -1)],
      reason: 'non-finite',
    },
    { name: 'a positive value', entries: [...prompt, entry(7, 0.5), entry(8, -1), entry(9, -1)], reason: 'non-finite' },
  ])('refuses $name', ({ entries, reason }) => {
    expect(alignVllm(entries, 2, ids)).toMatchObject({ ok: false, reason });
  });
});

describe('alignSglang', () => {
  it('D25: drops the prompt’s last id and nothing else', () => {
    expect(
      values(
        alignSglang(
          [
            [null, 2],
            [-0.5, 7, null],
            [-0.625, 8, null],
            [-0.75, 9, null],
          ],
          ids,
        ),
      ),
    ).toEqual([-0.5, -0.625, -0.75]);
  });
  it.each([
    {
      name: 'R entries, as the original asked for',
      entries: [
        [null, 7],
        [-1, 8],
        [-1, 9],
      ] as [number | null, number][],
      reason: 'length-mismatch',
    },
    {
      name: 'a shifted list',
      entries: [
        [null, 7],
        [-1, 8],
        [-1, 9],
        [-1, 4],
      ] as [number | null, number][],
      reason: 'ids-mismatch',
    },
    {
      name: 'a null after the first',
      entries: [
        [null, 2],
        [null, 7],
        [-1, 8],
        [-1, 9],
      ] as [number | null, number][],
      reason: 'non-finite',
    },
  ])('refuses $name', ({ entries, reason }) => {
    expect(alignSglang(entries, ids)).toMatchObject({ ok: false, reason });
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
