import { CONFIG, Metrics, WorkerSlots } from '@hindcast/platform';
import { Inject, Injectable } from '@nestjs/common';
import {
  BrokenCircuitError,
  ConsecutiveBreaker,
  ExponentialBackoff,
  circuitBreaker,
  handleWhen,
  retry,
  wrap,
  type IPolicy,
} from 'cockatiel';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { z } from 'zod';
import type { JudgeConfig } from './config';
import type { JudgePrompt } from './core/prompts';

/** A judge's reply, or why there is none. */
export type Reply = {
  readonly latencyMs: number;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
} & (
  | { readonly text: string; readonly failed: null }
  | { readonly text: ''; readonly failed: 'timeout' | 'error' | 'breaker-open' }
);

const Completion = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string().nullish() }) })).min(1),
  usage: z.object({ prompt_tokens: z.int().nonnegative(), completion_tokens: z.int().nonnegative() }).nullish(),
});

/** A failure of the judge; `passing` when another try can help. */
class JudgeFailure extends Error {
  constructor(
    message: string,
    readonly passing: boolean,
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }
}

/** Longest `Retry-After` that is honoured, ms; the vote's own deadline cuts it shorter. */
const RETRY_AFTER_LIMIT_MS = 60_000;

/** Calls an OpenAI-compatible judge. One vote = one slot, one deadline, some retries. */
@Injectable()
export class JudgeClient {
  private readonly agent: Agent;
  private readonly slots: WorkerSlots;
  private readonly policy: IPolicy;
  private readonly calls;

  constructor(
    @Inject(CONFIG) private readonly config: JudgeConfig,
    metrics: Metrics,
  ) {
    this.agent = new Agent({ connections: config.JUDGE_CONCURRENCY, keepAliveTimeout: 30_000 });
    this.slots = new WorkerSlots(config.JUDGE_CONCURRENCY);
    this.calls = metrics.counter('judge_votes_total', 'Judge votes by outcome', ['outcome']);
    const passing = handleWhen((error) => !(error instanceof JudgeFailure) || error.passing);
    this.policy = wrap(
      retry(passing, { maxAttempts: 4, backoff: new ExponentialBackoff({ initialDelay: 200, maxDelay: 5_000 }) }),
      circuitBreaker(passing, { halfOpenAfter: 5_000, breaker: new ConsecutiveBreaker(20) }),
    );
  }

  async ask(prompt: JudgePrompt): Promise<Reply> {
    return this.slots.run(async () => {
      const start = performance.now();
      const deadline = AbortSignal.timeout(this.config.VOTE_TIMEOUT_MS);
      const elapsed = (): number => Math.round(performance.now() - start);
      try {
        const completion = await this.policy.execute(({ signal }) => this.call(prompt, signal), deadline);
        this.calls.inc({ outcome: 'ok' });
        return {
          text: completion.choices[0]!.message.content ?? '',
          failed: null,
          latencyMs: elapsed(),
          promptTokens: completion.usage?.prompt_tokens ?? null,
          completionTokens: completion.usage?.completion_tokens ?? null,
        };
      } catch (error) {
        // A vote that fails abstains: the turn is decided with the votes that came.
        const failed = deadline.aborted ? 'timeout' : error instanceof BrokenCircuitError ? 'breaker-open' : 'error';
        this.calls.inc({ outcome: failed });
        return { text: '', failed, latencyMs: elapsed(), promptTokens: null, completionTokens: null };
      }
    });
  }

  private async call(prompt: JudgePrompt, signal: AbortSignal): Promise<z.infer<typeof Completion>> {
    const { statusCode, headers, body } = await request(
      `${this.config.JUDGE_BASE_URL.replace(/\/$/, '')}/chat/completions`,
      {
        method: 'POST',
        dispatcher: this.agent,
        signal,
        headers: {
          'content-type': 'application/json',
          ...(this.config.JUDGE_API_KEY ? { authorization: `Bearer ${this.config.JUDGE_API_KEY}` } : {}),
        },
        body: JSON.stringify({
          model: this.config.JUDGE_MODEL,
          messages: [
            { role: 'system', content: prompt.system },
            { role: 'user', content: prompt.user },
          ],
          temperature: this.config.JUDGE_TEMPERATURE,
          max_tokens: this.config.JUDGE_MAX_TOKENS,
        }),
      },
    );
    const text = await body.text();
    if (statusCode !== 200) {
      const passing = statusCode === 408 || statusCode === 429 || statusCode >= 500;
      const retryAfterMs = Math.min(RETRY_AFTER_LIMIT_MS, 1000 * (Number(headers['retry-after']) || 0));
      if (passing && retryAfterMs > 0) await sleep(retryAfterMs, undefined, { signal });
      throw new JudgeFailure(`the judge answered ${statusCode}`, passing);
    }
    try {
      return Completion.parse(JSON.parse(text));
    } catch {
      throw new JudgeFailure('the judge answered something that is no chat completion', true);
    }
  }
}
