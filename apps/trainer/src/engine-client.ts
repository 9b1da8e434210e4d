import { HindcastError } from '@hindcast/contracts';
import { z } from 'zod';

export interface EngineOptions {
  /** With `/v1`. */
  readonly baseUrl: string;
  readonly dialect: 'vllm' | 'sglang';
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
}

export interface SampleRequest {
  /** Adapter to sample from. */
  readonly adapter: string;
  readonly promptIds: ArrayLike<number>;
  readonly maxTokens: number;
  readonly seed: number;
}

export interface SampledAnswer {
  readonly ids: Int32Array;
  /** As the engine reported them; may be NaN or infinite. */
  readonly logProbs: readonly number[];
}

const ModelList = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });
const VllmCompletion = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        token_ids: z.array(z.int().nonnegative()).min(1),
        logprobs: z.looseObject({ token_logprobs: z.array(z.number().nullable()) }),
      }),
    )
    .length(1),
});
const SglangGeneration = z.looseObject({
  meta_info: z.looseObject({
    output_token_logprobs: z.array(z.tuple([z.number().nullable(), z.int().nonnegative()]).rest(z.unknown())).min(1),
  }),
});
const SglangUpdate = z.looseObject({ success: z.boolean(), message: z.string().nullish() });
const SglangControl = z.looseObject({ success: z.boolean(), error_message: z.string().nullish() });

/** vLLM reports −∞ as this number. */
const MINUS_INFINITY = -9999;

/** The calls that publication makes to one engine. Every failure is a HindcastError that can be retried. */
export class EngineClient {
  constructor(private readonly options: EngineOptions) {}

  get baseUrl(): string {
    return this.options.baseUrl;
  }

  /** Names of the models and adapters that the engine serves. */
  async models(): Promise<string[]> {
    const list = parsed(ModelList, await this.call('GET', `${this.baseUrl}/models`), this.baseUrl);
    // SGLang lists an adapter as `base:adapter`.
    return list.data.map(({ id }) => (this.options.dialect === 'sglang' ? id.slice(id.lastIndexOf(':') + 1) : id));
  }

  /** Loads an adapter under a name of its own, never in place. That the engine has it already counts as loaded. */
  async loadAdapter(name: string, path: string): Promise<void> {
    await this.control('load_lora_adapter', { lora_name: name, lora_path: path }, /already (been )?loaded/i);
  }

  /** That the engine does not have the adapter counts as unloaded. */
  async unloadAdapter(name: string): Promise<void> {
    await this.control('unload_lora_adapter', { lora_name: name }, /not (be )?found|not loaded|does ?n[o']t exist/i);
  }

  /**
   * Replaces the weights of the whole model by those in a folder that the engine sees. The prefix cache is flushed in the same call: what
   * it holds was computed by the old weights. That a flush was refused fails the update.
   *
   * @param version becomes the engine's `weight_version`
   */
  async updateWeights(path: string, version: number): Promise<void> {
    if (this.options.dialect !== 'sglang')
      throw this.error('full weights can be published to SGLang only; use LoRA (TUNING=lora) with this engine');
    const body = { model_path: path, flush_cache: true, weight_version: String(version) };
    const reply = await this.call('POST', `${this.root}/update_weights_from_disk`, body);
    const { success, message } = parsed(SglangUpdate, reply, this.baseUrl);
    if (!success) throw this.error(message ?? 'the engine kept its old weights');
  }

  /** One answer at T = 1, top-p = 1 from exact prompt ids, with the engine's log-probs of the sampled ids. */
  async sample({ adapter, promptIds, maxTokens, seed }: SampleRequest): Promise<SampledAnswer> {
    const ids = Array.from(promptIds);
    if (this.options.dialect === 'sglang') {
      const body = {
        input_ids: ids,
        sampling_params: { temperature: 1, top_p: 1, max_new_tokens: maxTokens, sampling_seed: seed },
        return_logprob: true,
        lora_path: adapter,
      };
      const { meta_info } = parsed(
        SglangGeneration,
        await this.call('POST', `${this.root}/generate`, body),
        this.baseUrl,
      );
      return answerOf(meta_info.output_token_logprobs.map(([logProb, id]) => [id, logProb]));
    }
    const body = {
      model: adapter,
      prompt: ids,
      max_tokens: maxTokens,
      temperature: 1,
      top_p: 1,
      seed,
      logprobs: 0,
      return_token_ids: true,
    };
    const { choices } = parsed(
      VllmCompletion,
      await this.call('POST', `${this.baseUrl}/completions`, body),
      this.baseUrl,
    );
    const { token_ids, logprobs } = choices[0]!;
    if (token_ids.length !== logprobs.token_logprobs.length) {
      throw this.error(`${token_ids.length} token ids but ${logprobs.token_logprobs.length} log-probs`);
    }
    return answerOf(token_ids.map((id, t) => [id, logprobs.token_logprobs[t]!]));
  }

  /** Without `/v1`: where SGLang's own calls are. */
  private get root(): string {
    return this.baseUrl.replace(/\/v1\/?$/, '');
  }

  private async control(path: string, body: object, harmless: RegExp): Promise<void> {
    const { dialect } = this.options;
    const url = dialect === 'sglang' ? `${this.root}/${path}` : `${this.baseUrl}/${path}`;
    try {
      const reply = await this.call('POST', url, body);
      if (dialect === 'vllm') return;
      const { success, error_message: message } = parsed(SglangControl, reply, this.baseUrl);
      if (!success) throw this.error(message ?? `${path} failed`);
    } catch (error) {
      if (error instanceof Error && harmless.test(error.message)) return;
      throw error;
    }
  }

  /** The reply: JSON where it is JSON, else its text. */
  private async call(method: string, url: string, body?: object): Promise<unknown> {
    const { apiKey, timeoutMs } = this.options;
    let text: string;
    let status: number;
    try {
      const response = await fetch(url, {
        method,
        headers: {
          ...(body && { 'content-type': 'application/json' }),
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      status = response.status;
      text = await response.text();
    } catch (cause) {
      const isTimeout = (cause as { name?: unknown } | null)?.name === 'TimeoutError';
      const code = isTimeout ? 'engine-timeout' : 'engine-unreachable';
      throw new HindcastError(code, `${url} ${isTimeout ? `gave no answer in ${timeoutMs} ms` : 'cannot be reached'}`, {
        cause,
      });
    }
    if (status >= 400) throw this.error(`${url} answered ${status}: ${text.slice(0, 300)}`);
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }

  private error(message: string): HindcastError {
    return new HindcastError('engine-invalid-response', message);
  }
}

function answerOf(tokens: readonly (readonly [number, number | null])[]): SampledAnswer {
  return {
    ids: Int32Array.from(tokens, ([id]) => id),
    logProbs: tokens.map(([, logProb]) => (logProb === null ? NaN : logProb <= MINUS_INFINITY ? -Infinity : logProb)),
  };
}

function parsed<S extends z.ZodType>(schema: S, value: unknown, engine: string): z.infer<S> {
  const result = schema.safeParse(value);
  if (!result.success) {
    throw new HindcastError('engine-invalid-response', `${engine}: ${z.prettifyError(result.error)}`);
  }
  return result.data;
}
