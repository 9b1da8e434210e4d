import { z } from 'zod';
import { EngineHttp, EngineRefusal } from './engine-http';
import { SglangWeights, VllmWeights, type EngineWeights } from './engine-weights';

export interface EngineOptions {
  /** With `/v1`. */
  readonly baseUrl: string;
  readonly dialect: 'vllm' | 'sglang';
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
  /** Limit of an update of the whole weights. */
  readonly updateTimeoutMs: number;
}

/** What an engine says that it serves. */
export interface EngineModels {
  /** Models and adapters by name. */
  readonly names: readonly string[];
  /** Name of the base model; `null` when it lists none. */
  readonly base: string | null;
  /** It serves several sets of whole weights beside each other, each under a name (apps/engine). */
  readonly namesWeights: boolean;
}

export interface SampleRequest {
  /** Name of the version to sample from; `null` where it has none of its own, and the base model's name answers. */
  readonly model: string | null;
  readonly promptIds: ArrayLike<number>;
  readonly maxTokens: number;
  readonly seed: number;
}

export interface SampledAnswer {
  readonly ids: Int32Array;
  /** As the engine reported them; may be NaN or infinite. */
  readonly logProbs: readonly number[];
}

const ModelList = z.looseObject({
  data: z.array(z.looseObject({ id: z.string(), parent: z.string().nullish(), loads_weights: z.boolean().optional() })),
});
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
const SglangControl = z.looseObject({ success: z.boolean(), error_message: z.string().nullish() });

/** vLLM reports −∞ as this number. */
const MINUS_INFINITY = -9999;

/** The calls that publication makes to one engine. Every failure is a HindcastError that can be retried. */
export class EngineClient {
  /** The whole weights, where the engine has one set of them at a time. */
  readonly weights: EngineWeights;
  private readonly http: EngineHttp;

  constructor(private readonly options: EngineOptions) {
    this.http = new EngineHttp(options);
    const Weights = options.dialect === 'sglang' ? SglangWeights : VllmWeights;
    this.weights = new Weights(this.http, options.updateTimeoutMs);
  }

  get baseUrl(): string {
    return this.options.baseUrl;
  }

  async models(): Promise<EngineModels> {
    const list = this.http.parse(ModelList, await this.http.call('GET', `${this.baseUrl}/models`));
    // SGLang lists an adapter as `base:adapter`.
    const isSglang = this.options.dialect === 'sglang';
    return {
      names: list.data.map(({ id }) => (isSglang ? id.slice(id.lastIndexOf(':') + 1) : id)),
      base: list.data.find(({ parent }) => (parent ?? null) === null)?.id ?? null,
      namesWeights: list.data.some(({ loads_weights: loads }) => loads === true),
    };
  }

  /** Loads an adapter under a name of its own, never in place. That the engine has it already counts as loaded. */
  async loadAdapter(name: string, path: string): Promise<void> {
    await this.control('load_lora_adapter', { lora_name: name, lora_path: path }, /already (been )?loaded/i);
  }

  /** That the engine does not have the adapter counts as unloaded. */
  async unloadAdapter(name: string): Promise<void> {
    await this.control('unload_lora_adapter', { lora_name: name }, /not (be )?found|not loaded|does ?n[o']t exist/i);
  }

  /** Loads whole weights under a name of their own, beside those that are there: apps/engine only. */
  async loadWeights(name: string, path: string): Promise<void> {
    await this.control('load_weights', { name, path }, /already (been )?loaded/i);
  }

  async unloadWeights(name: string): Promise<void> {
    await this.control('unload_weights', { name }, /not (be )?found/i);
  }

  /** One answer at T = 1, top-p = 1 from exact prompt ids, with the engine's log-probs of the sampled ids. */
  async sample(request: SampleRequest): Promise<SampledAnswer> {
    return this.options.dialect === 'sglang' ? await this.generate(request) : await this.complete(request);
  }

  private async generate({ model, promptIds, maxTokens, seed }: SampleRequest): Promise<SampledAnswer> {
    const body = {
      input_ids: Array.from(promptIds),
      sampling_params: { temperature: 1, top_p: 1, max_new_tokens: maxTokens, sampling_seed: seed },
      return_logprob: true,
      ...(model !== null && { lora_path: model }),
    };
    const reply = await this.http.call('POST', `${this.http.root}/generate`, body);
    const { meta_info } = this.http.parse(SglangGeneration, reply);
    return answerOf(meta_info.output_token_logprobs.map(([logProb, id]) => [id, logProb]));
  }

  private async complete({ model, promptIds, maxTokens, seed }: SampleRequest): Promise<SampledAnswer> {
    const body = {
      model: model ?? (await this.models()).base,
      prompt: Array.from(promptIds),
      max_tokens: maxTokens,
      temperature: 1,
      top_p: 1,
      seed,
      logprobs: 0,
      return_token_ids: true,
    };
    const { choices } = this.http.parse(
      VllmCompletion,
      await this.http.call('POST', `${this.baseUrl}/completions`, body),
    );
    const { token_ids, logprobs } = choices[0]!;
    if (token_ids.length !== logprobs.token_logprobs.length) {
      const message = `${token_ids.length} token ids but ${logprobs.token_logprobs.length} log-probs`;
      throw new EngineRefusal(message, null);
    }
    return answerOf(token_ids.map((id, t) => [id, logprobs.token_logprobs[t]!]));
  }

  private async control(path: string, body: object, harmless: RegExp): Promise<void> {
    const { dialect } = this.options;
    const url = dialect === 'sglang' ? `${this.http.root}/${path}` : `${this.baseUrl}/${path}`;
    try {
      const reply = await this.http.call('POST', url, body);
      if (dialect === 'vllm') return;
      const { success, error_message: message } = this.http.parse(SglangControl, reply);
      if (!success) throw new EngineRefusal(message ?? `${path} failed`, null);
    } catch (error) {
      if (error instanceof Error && harmless.test(error.message)) return;
      throw error;
    }
  }
}

function answerOf(tokens: readonly (readonly [number, number | null])[]): SampledAnswer {
  return {
    ids: Int32Array.from(tokens, ([id]) => id),
    logProbs: tokens.map(([, logProb]) => (logProb === null ? NaN : logProb <= MINUS_INFINITY ? -Infinity : logProb)),
  };
}
