import { writeFloat, writeJson } from '../../../gateway/src/testing/engine-wire';
import { HINT_TAG } from '../core/hinted-messages';
import type { EngineCall, EngineAnswer } from './fake-engine';

/** What a fake engine knows of its model: the ids of both prompts, and the log-probs that it gives. */
export interface KnownModel {
  readonly promptIds: readonly number[];
  readonly hintedIds: readonly number[];
  /** log-prob of the id at a position of what was sent; −Infinity as it is. */
  readonly logProb: (ids: readonly number[], position: number) => number;
  /** Likeliest ids at a position, best first. */
  readonly ranked?: (ids: readonly number[], position: number) => readonly (readonly [id: number, logProb: number])[];
  readonly maxModelLength?: number;
}

export const isHinted = (call: EngineCall): boolean =>
  JSON.stringify(call.body['messages'] ?? null).includes(HINT_TAG.slice(0, 10));

/** `/tokenize` of both servers: SGLang names the same fields. */
export function tokenize(call: EngineCall, model: KnownModel): EngineAnswer {
  const tokens = isHinted(call) ? model.hintedIds : model.promptIds;
  return { json: { count: tokens.length, max_model_len: model.maxModelLength ?? 512, tokens, token_strs: null } };
}

/**
 * `/v1/completions` of vLLM 0.33 with `prompt_logprobs`, as starlette writes it. The id itself comes first, then the likeliest; where it is
 * among them it has their rank. −∞ is clamped to −9999 (`clamp_prompt_logprobs`).
 */
export function vllmScore(call: EngineCall, model: KnownModel): EngineAnswer {
  const ids = call.body['prompt'] as number[];
  const count = call.body['prompt_logprobs'] as number;
  const entry = (position: number): string => {
    const top = model.ranked?.(ids, position).slice(0, count) ?? [];
    const own = ids[position]!;
    const candidates = new Map<number, object>([[own, candidate(model.logProb(ids, position), top.length + 3, own)]]);
    top.forEach(([id, logProb], i) => candidates.set(id, candidate(logProb, i + 1, id)));
    // Written by hand: an object of JavaScript would put the ids in order.
    return `{${[...candidates].map(([id, value]) => `"${id}":${writeJson(value, 'python')}`).join(',')}}`;
  };
  const list = ids.map((_, position) => (position === 0 ? 'null' : entry(position))).join(',');
  const choice =
    `{"index":0,"text":".","logprobs":null,"finish_reason":"length","stop_reason":null,"token_ids":null,` +
    `"prompt_logprobs":[${list}],"prompt_token_ids":null,"routed_experts":null}`;
  const usage = `{"prompt_tokens":${ids.length},"total_tokens":${ids.length + 1},"completion_tokens":1,"prompt_tokens_details":null}`;
  return {
    text:
      `{"id":"cmpl-1","object":"text_completion","created":1,"model":${JSON.stringify(call.body['model'])},` +
      `"choices":[${choice}],"service_tier":null,"system_fingerprint":"vllm-0.33.0-tp1-fake","usage":${usage},"kv_transfer_params":null}`,
  };
}

const candidate = (logProb: number, rank: number, id: number): object => ({
  logprob: Math.max(logProb, -9999),
  rank,
  // A text that looks like structure must not confuse a reader.
  decoded_token: id % 2 ? `{"logprob":-1}},{"${id}":` : '字"\\',
});

/** `/generate` of SGLang 0.5.23 with `return_logprob`, as orjson writes it: entry 0 of each list has no log-prob, whatever the start. */
export function sglangScore(call: EngineCall, model: KnownModel): EngineAnswer {
  const ids = call.body['input_ids'] as number[];
  const start = call.body['logprob_start_len'] as number;
  const count = (call.body['top_logprobs_num'] as number | undefined) ?? 0;
  const triple = (logProb: number | null, id: number): string =>
    `[${logProb === null ? 'null' : writeFloat(logProb, 'rust')},${id},null]`;
  const positions = ids.slice(start).map((_, i) => start + i);
  const own = positions.map((at, i) => triple(i === 0 ? null : model.logProb(ids, at), ids[at]!));
  const rows = positions.map((at, i) =>
    i === 0
      ? 'null'
      : `[${(model.ranked?.(ids, at) ?? [])
          .slice(0, count)
          .map(([id, logProb]) => triple(logProb, id))
          .join(',')}]`,
  );
  const top = count > 0 ? `"input_top_logprobs":[${rows.join(',')}],"output_top_logprobs":[],` : '';
  return {
    text:
      `{"text":"","output_ids":[],"meta_info":{"id":"0a1b","finish_reason":{"type":"length","length":0},"prompt_tokens":${ids.length},` +
      `"weight_version":"default","num_retractions":0,"input_token_logprobs":[${own.join(',')}],"output_token_logprobs":[],` +
      `${top}"completion_tokens":0,"cached_tokens":0,"e2e_latency":0.01}}`,
  };
}
