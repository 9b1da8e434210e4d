import { alignVllm, type ScoredIds } from './align-log-probs';
import type { Scores } from './positions';
import { scanVllm } from './scan-vllm';

const ids = [1, 2, 7, 8, 9];
const scored: ScoredIds = { ids: Int32Array.from(ids), promptLength: 2, topK: 0 };
const entry = (id: number, logprob: unknown, text = 'x') => ({ [id]: { logprob, rank: 1, decoded_token: text } });
const answer = (entries: unknown): string =>
  JSON.stringify({
    id: 'cmpl-1',
    choices: [{ index: 0, text: '.', logprobs: null, prompt_logprobs: entries, prompt_token_ids: null }],
    usage: {},
  });
const entries = [null, entry(2, -1), entry(7, -0.5), entry(8, -1e-5), entry(9, -0.75)];
const bytes = (text: string): Uint8Array => Buffer.from(text);

it('reads what vLLM writes', () => {
  expect(scanVllm(bytes(answer(entries)), scored)).toEqual(alignVllm(entries, scored));
});

it.each([
  ['spaces after the marks', JSON.stringify({ choices: [{ prompt_logprobs: entries }] }, null, 1)],
  ['two choices', JSON.stringify({ choices: [{ prompt_logprobs: entries }, { prompt_logprobs: entries }] })],
  ['fields in another order', answer(entries.map((e) => (e ? { 5: { rank: 1, logprob: -1 } } : e)))],
  ['an answer that is cut', answer(entries).slice(0, -20)],
  ['an entry too few', answer(entries.slice(0, -1))],
  ['an entry too many', answer([...entries, entry(4, -1)])],
  ['a null entry in the middle', answer(entries.with(3, null))],
  ['another id', answer(entries.with(3, entry(5, -1)))],
  ['another prompt id', answer(entries.with(1, entry(5, -1)))],
  [
    'two short lists',
    answer(entries.slice(0, 3)).replace(
      '}}],',
      `}}],"prompt_logprobs":${JSON.stringify([null, ...entries.slice(3)])},`,
    ),
  ],
  ['null', answer(entries.with(4, entry(9, null)))],
  ['−9999', answer(entries.with(4, entry(9, -9999)))],
  ['NaN', answer(entries).replace('-0.75', 'NaN')],
  ['-Infinity', answer(entries).replace('-0.75', '-Infinity')],
  ['a number in hexadecimal', answer(entries).replace('-0.75', '-0x1')],
  ['a key that is no id', answer(entries).replace('"9":', '"x9":')],
  ['no list', answer('none')],
  ['nothing', ''],
])('leaves %s to the careful reader', (_, text) => {
  expect(scanVllm(bytes(text), scored)).toBeNull();
});

/** A generator of reproducible numbers in [0, 1). */
function lcg(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
}
const NASTY = [
  '"',
  '\\',
  '\\"',
  '{"logprob":',
  '"prompt_logprobs":[null',
  '},{',
  ',"7":{"logprob":-1',
  '字',
  '😀',
  '\n',
  '":',
];

it('agrees with the careful reader on random answers with texts made to mislead', () => {
  const random = lcg(7);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  for (let round = 0; round < 300; round++) {
    const k = Math.floor(random() * 4);
    const count = 3 + Math.floor(random() * 20);
    const all = Array.from({ length: count }, () => Math.floor(random() * 50));
    const list = all.map((id, i) => {
      if (i === 0) return null;
      const others = new Set<number>();
      while (others.size < k) others.add(Math.floor(random() * 50));
      return Object.fromEntries(
        [id, ...others].map((candidate) => [
          candidate,
          { logprob: -random() * 8, rank: 1, decoded_token: pick(NASTY) + pick(NASTY) },
        ]),
      );
    });
    const wanted = { ids: Int32Array.from(all), promptLength: 1 + Math.floor(random() * (count - 1)), topK: k };
    const text = answer(list);
    const parsed = (JSON.parse(text) as { choices: { prompt_logprobs: unknown[] }[] }).choices[0]!.prompt_logprobs;
    let careful: Scores | null = null;
    try {
      careful = alignVllm(parsed, wanted);
    } catch {
      // Refused: the scan must not know better.
    }
    expect(scanVllm(bytes(text), wanted)).toEqual(careful);
  }
});
