import { readSglangScores, readVllmScores } from './core/engine-answer';
import { call, refusalOf, rootOf, type Server } from './http';

/** log π of given ids, or why there is none. */
export interface Scores {
  readonly logProbs: number[] | null;
  readonly why: string | null;
}

/** Scores ids after a prompt as the teacher does (docs/engine-calls.md §§5, 6). */
export async function scoreIds(
  server: Server,
  { model, dialect }: { readonly model: string; readonly dialect: 'vllm' | 'sglang' },
  promptIds: readonly number[],
  ids: readonly number[],
): Promise<Scores> {
  const all = [...promptIds, ...ids];
  const reply =
    dialect === 'vllm'
      ? await call(server, `${server.baseUrl}/completions`, {
          model,
          prompt: all,
          max_tokens: 1,
          temperature: 0,
          prompt_logprobs: 0,
        })
      : await call(server, `${rootOf(server.baseUrl)}/generate`, {
          input_ids: all,
          sampling_params: { max_new_tokens: 0, temperature: 0 },
          return_logprob: true,
          logprob_start_len: promptIds.length - 1,
        });
  if (reply.status !== 200) return { logProbs: null, why: refusalOf(reply) };
  const logProbs =
    dialect === 'vllm' ? readVllmScores(reply.json, all, promptIds.length) : readSglangScores(reply.json, ids.length);
  return { logProbs, why: logProbs === null ? 'its reply holds no log-probs of the ids that were sent' : null };
}
