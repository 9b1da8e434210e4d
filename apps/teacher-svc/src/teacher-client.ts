import { DependencyUnavailable, type CaptureHeader } from '@hindcast/contracts';
import { CONFIG } from '@hindcast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { Agent, request } from 'undici';
import { z } from 'zod';
import type { TeacherConfig } from './config';
import { alignSglang, alignVllm, type Alignment } from './core/align-log-probs';
import type { Message } from './core/hinted-messages';

const Tokenized = z.object({ tokens: z.array(z.int().nonnegative()) });
const VllmScore = z.object({
  choices: z
    .array(
      z.object({
        prompt_logprobs: z.array(z.record(z.string(), z.object({ logprob: z.number().nullable() })).nullable()),
      }),
    )
    .min(1),
});
const SglangScore = z.object({
  meta_info: z.object({ input_token_logprobs: z.array(z.tuple([z.number().nullable(), z.int()], z.unknown())) }),
});

/** The engine understood the request and refuses it: another try with the same ids gives the same answer. */
export class EngineRefusal extends Error {}

/** Asks the teacher's engine for ids of a conversation and for log-probs of given ids. */
@Injectable()
export class TeacherClient {
  private readonly agent: Agent;

  constructor(@Inject(CONFIG) private readonly config: TeacherConfig) {
    this.agent = new Agent({ connections: config.TEACHER_CONCURRENCY, keepAliveTimeout: 30_000 });
  }

  /** Prompt ids of a conversation by the engine's own chat template. */
  async tokenize(messages: readonly Message[], header: CaptureHeader): Promise<number[]> {
    const body = {
      model: this.config.TEACHER_MODEL,
      messages,
      add_generation_prompt: true,
      ...(header.tools ? { tools: header.tools } : {}),
      ...(header.templateArguments ? { chat_template_kwargs: header.templateArguments } : {}),
    };
    return (await this.post(`${this.origin}/tokenize`, body, Tokenized)).tokens;
  }

  /** log π_T of `responseIds` after `promptIds`, by the engine's dialect. */
  async score(promptIds: readonly number[], responseIds: Int32Array): Promise<Alignment> {
    const ids = [...promptIds, ...responseIds];
    if (this.config.TEACHER_DIALECT === 'sglang') {
      const { meta_info } = await this.post(
        `${this.origin}/generate`,
        {
          input_ids: ids,
          sampling_params: { max_new_tokens: 0, temperature: 0 },
          return_logprob: true,
          logprob_start_len: promptIds.length - 1,
        },
        SglangScore,
      );
      return alignSglang(meta_info.input_token_logprobs, responseIds);
    }
    const { choices } = await this.post(
      `${this.config.TEACHER_BASE_URL}/completions`,
      { model: this.config.TEACHER_MODEL, prompt: ids, max_tokens: 1, temperature: 0, prompt_logprobs: 0 },
      VllmScore,
    );
    return alignVllm(choices[0]!.prompt_logprobs, promptIds.length, responseIds);
  }

  /** `/tokenize` and `/generate` lie beside `/v1`, not under it. */
  private get origin(): string {
    return this.config.TEACHER_BASE_URL.replace(/\/v1$/, '');
  }

  private async post<S extends z.ZodType>(url: string, body: unknown, schema: S): Promise<z.infer<S>> {
    const key = this.config.TEACHER_API_KEY;
    const away = (why: string, cause?: unknown): DependencyUnavailable =>
      new DependencyUnavailable('teacher engine', `${new URL(url).pathname}: ${why}`, 1_000, { cause });
    let status: number;
    let text: string;
    try {
      const response = await request(url, {
        method: 'POST',
        dispatcher: this.agent,
        signal: AbortSignal.timeout(this.config.TEACHER_TIMEOUT_MS),
        headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
        body: JSON.stringify(body),
      });
      status = response.statusCode;
      text = await response.body.text();
    } catch (cause) {
      throw away('unreachable', cause);
    }
    if (status >= 500 || status === 429 || status === 408 || status === 401 || status === 403)
      throw away(`status ${status}`);
    if (status !== 200) throw new EngineRefusal(`${new URL(url).pathname} answered ${status}`);
    let answer: unknown;
    try {
      answer = JSON.parse(text);
    } catch (cause) {
      throw away('the answer is not JSON', cause);
    }
    const parsed = schema.safeParse(answer);
    if (!parsed.success)
      throw new EngineRefusal(`${new URL(url).pathname}: ${parsed.error.issues[0]?.message ?? 'unexpected shape'}`);
    return parsed.data;
  }
}
