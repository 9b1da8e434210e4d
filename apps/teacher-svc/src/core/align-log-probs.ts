import { Positions, type Candidates, type Scores } from './positions';
import { TeacherRefusal } from './teacher-refusal';

/** What is scored: the hinted prompt, and behind it the ids that the policy sampled. */
export interface ScoredIds {
  /** `[P + R]` */
  readonly ids: Int32Array;
  /** P, length of the hinted prompt. */
  readonly promptLength: number;
  /** Most likely ids wanted at each response position; 0: none. */
  readonly topK: number;
}

/**
 * Reads vLLM's `choices[0].prompt_logprobs` of `hinted prompt ++ sampled ids`, as `JSON.parse` gives it.
 *
 * Entry i belongs to id i and holds that id among its keys; entry 0 is null. The sampled ids' entries start at the length of
 * the hinted prompt. Nothing is padded or shifted: an entry that is missing or names other ids refuses the whole turn, also in the
 * prompt, where it says that the engine read another one.
 *
 * @throws TeacherRefusal
 */
export function alignVllm(entries: readonly unknown[], { ids, promptLength, topK }: ScoredIds): Scores {
  if (entries.length !== ids.length) {
    throw new TeacherRefusal(
      'length-mismatch',
      `${entries.length} entries for ${promptLength} + ${ids.length - promptLength} ids`,
    );
  }
  const positions = new Positions(ids.slice(promptLength), topK);
  for (let i = 1; i < ids.length; i++) {
    const entry = entries[i];
    const own: unknown = isObject(entry) ? entry[String(ids[i])] : undefined;
    if (i < promptLength) {
      if (!isObject(own)) throw otherPrompt(i, ids[i]!);
      continue;
    }
    const t = i - promptLength;
    positions.setOwn(t, isObject(own) ? ids[i] : undefined, isObject(own) ? own['logprob'] : undefined);
    if (topK > 0) positions.setTop(t, candidatesOf(entry as Record<string, unknown>));
  }
  return positions.scores();
}

function candidatesOf(entry: Readonly<Record<string, unknown>>): Candidates {
  const keys = Object.keys(entry);
  return {
    ids: keys.map(Number),
    logProbs: keys.map((key) => (entry[key] as Record<string, unknown> | null)?.['logprob']),
    count: keys.length,
  };
}

/**
 * Reads SGLang's `meta_info`, asked for with `logprob_start_len = P − 1`: `input_token_logprobs` is `[logprob, id, text]` for the hinted
 * prompt's last id (whose log-prob is null) and then for the R sampled ids, `input_top_logprobs` a row of such triples for each of
 * them, null for the first.
 *
 * @throws TeacherRefusal
 */
export function alignSglang(meta: Readonly<Record<string, unknown>>, { ids, promptLength, topK }: ScoredIds): Scores {
  const responseIds = ids.slice(promptLength);
  const entries = meta['input_token_logprobs'];
  const rows = topK > 0 ? meta['input_top_logprobs'] : null;
  const expected = responseIds.length + 1;
  for (const list of topK > 0 ? [entries, rows] : [entries]) {
    const length = Array.isArray(list) ? list.length : null;
    if (length !== expected)
      throw new TeacherRefusal('length-mismatch', `${length ?? 'no'} entries for 1 + ${responseIds.length} ids`);
  }
  const read = meta['prompt_tokens'];
  if (typeof read === 'number' && read !== ids.length)
    throw new TeacherRefusal('ids-mismatch', `the teacher read ${read} ids of ${ids.length}`);
  const [, lastPromptId] = tripleOf((entries as unknown[])[0]);
  if (lastPromptId !== ids[promptLength - 1]) throw otherPrompt(promptLength - 1, ids[promptLength - 1]!);
  const positions = new Positions(responseIds, topK);
  for (let t = 0; t < responseIds.length; t++) {
    const [logProb, id] = tripleOf((entries as unknown[])[t + 1]);
    positions.setOwn(t, id, logProb);
    if (topK > 0) positions.setTop(t, candidatesOfRow((rows as unknown[])[t + 1]));
  }
  return positions.scores();
}

function candidatesOfRow(row: unknown): Candidates {
  const triples = Array.isArray(row) ? row.map(tripleOf) : [];
  return {
    ids: triples.map(([, id]) => id ?? -1),
    logProbs: triples.map(([logProb]) => logProb),
    count: triples.length,
  };
}

function tripleOf(entry: unknown): [unknown, number | undefined] {
  if (!Array.isArray(entry)) return [undefined, undefined];
  const [logProb, id] = entry as unknown[];
  return [logProb, typeof id === 'number' ? id : undefined];
}

/** First position at which two id arrays differ (also by length); −1 when they are equal. */
export function firstDifference(left: ArrayLike<number>, right: ArrayLike<number>): number {
  const length = Math.min(left.length, right.length);
  for (let t = 0; t < length; t++) if (left[t] !== right[t]) return t;
  return left.length === right.length ? -1 : length;
}

const otherPrompt = (position: number, id: number): TeacherRefusal =>
  new TeacherRefusal('ids-mismatch', `prompt position ${position}: the teacher read another id than ${id}`);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
