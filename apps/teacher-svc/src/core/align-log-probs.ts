import type { BodyOf } from '@hindcast/contracts';

type Failure = Extract<BodyOf<'turnScored'>['teacher'], { ok: false }>['reason'];
/** log π_T of the sampled ids, `[R]` float32, nats; or why there is none. */
export type Alignment =
  | { readonly ok: true; readonly logProbs: Float32Array }
  | { readonly ok: false; readonly reason: Failure; readonly detail: string };

/** vLLM clamps −∞ to this in its answers (vllm-project/vllm#11073); it is not a log-probability. */
const VLLM_MINUS_INFINITY = -9999;

/**
 * Reads vLLM's `prompt_logprobs` of `hinted prompt ++ sampled ids`.
 *
 * Entry i belongs to prompt id i and holds that id among its keys; entry 0 is null. The sampled ids' entries start at the length of
 * the hinted prompt. Nothing is padded or shifted: an entry that is missing or names another id refuses the whole turn.
 *
 * @param entries      `[P + R]`, as `choices[0].prompt_logprobs`
 * @param promptLength P, length of the hinted prompt
 * @param responseIds  `[R]` the ids that the policy sampled
 */
export function alignVllm(
  entries: readonly (Readonly<Record<string, { readonly logprob: number | null }>> | null)[],
  promptLength: number,
  responseIds: ArrayLike<number>,
): Alignment {
  if (entries.length !== promptLength + responseIds.length) {
    return refuse('length-mismatch', `${entries.length} entries for ${promptLength} + ${responseIds.length} ids`);
  }
  return collect(responseIds, (t) => {
    const entry = entries[promptLength + t];
    const logProb = entry?.[String(responseIds[t])]?.logprob;
    return logProb === undefined ? undefined : { id: responseIds[t]!, logProb };
  });
}

/**
 * Reads SGLang's `meta_info.input_token_logprobs`, asked for with `logprob_start_len = P − 1`: `[logprob, id, text]` for the hinted
 * prompt's last id (whose log-prob is null) and then for the R sampled ids.
 */
export function alignSglang(
  entries: readonly (readonly [number | null, number, ...unknown[]])[],
  responseIds: ArrayLike<number>,
): Alignment {
  if (entries.length !== responseIds.length + 1) {
    return refuse('length-mismatch', `${entries.length} entries for 1 + ${responseIds.length} ids`);
  }
  return collect(responseIds, (t) => {
    const [logProb, id] = entries[t + 1]!;
    return { id, logProb };
  });
}

/** First position at which two id arrays differ (also by length); −1 when they are equal. */
export function firstDifference(left: ArrayLike<number>, right: ArrayLike<number>): number {
  const length = Math.min(left.length, right.length);
  for (let t = 0; t < length; t++) if (left[t] !== right[t]) return t;
  return left.length === right.length ? -1 : length;
}

function collect(
  responseIds: ArrayLike<number>,
  entryAt: (t: number) => { id: number; logProb: number | null } | undefined,
): Alignment {
  const logProbs = new Float32Array(responseIds.length);
  for (let t = 0; t < responseIds.length; t++) {
    const entry = entryAt(t);
    if (entry === undefined || entry.id !== responseIds[t]) {
      return refuse(
        'ids-mismatch',
        `position ${t}: the teacher scored ${entry ? `id ${entry.id}` : 'other ids'}, sampled was ${responseIds[t]}`,
      );
    }
    const { logProb } = entry;
    if (logProb === null || !Number.isFinite(logProb) || logProb <= VLLM_MINUS_INFINITY || logProb > 1e-3) {
      return refuse('non-finite', `position ${t}: the teacher's log-prob is ${logProb}`);
    }
    logProbs[t] = logProb;
  }
  return { ok: true, logProbs };
}

const refuse = (reason: Failure, detail: string): Alignment => ({ ok: false, reason, detail });
