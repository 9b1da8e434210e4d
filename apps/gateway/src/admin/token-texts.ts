import { Inject, Injectable } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { CONFIG, Latest, Log, WorkerSlots } from '@hindcast/platform';
import type { GatewayConfig } from '../config';
import { textOfTwice } from '../core/admin/token-text';
import { EngineClient } from '../engine-client';
import { EnginePool } from '../engine-pool';
import { IdRecovery } from '../id-recovery';
import { readEngineBody } from '../engine-body';

/** Ids whose texts are remembered: more than a vocabulary has. */
const KEPT = 400_000;
/** Calls to engines at a time, whoever asks. */
const AT_ONCE = 8;
/** Ids of one call to SGLang, which takes several lists; vLLM takes one. */
const BATCH = 256;
/** How long a page waits; what is not known by then it learns the next time. */
const PATIENCE_MS = 5_000;
/** How long engines are left alone after one could not tell. */
const PAUSE_MS = 10_000;

/** The texts of token ids, each by itself. The tokenizer is the base model's, which all versions of the policy share. */
@Injectable()
export class TokenTexts {
  /** `null`: it is a piece of a character, or no id of the vocabulary. */
  private readonly known = new Latest<number, string | null>(KEPT);
  private readonly slots = new WorkerSlots(AT_ONCE);
  /** In milliseconds of `performance.now()`. */
  private pausedUntil = 0;

  constructor(
    @Inject(CONFIG) private readonly config: GatewayConfig,
    private readonly client: EngineClient,
    private readonly pool: EnginePool,
    private readonly recovery: IdRecovery,
    private readonly log: Log,
  ) {}

  /**
   * One text for each id; `null` where an id has none of its own, or nobody could say in time. `null` for all when nothing is known of
   * any. Never rejects.
   */
  async of(ids: Int32Array): Promise<(string | null)[] | null> {
    const unknown = [...new Set(ids)].filter((id) => !this.known.has(id));
    if (unknown.length > 0) await this.learn(unknown);
    const all = [...ids];
    return all.some((id) => this.known.has(id)) ? all.map((id) => this.known.get(id) ?? null) : null;
  }

  private async learn(ids: readonly number[]): Promise<void> {
    if (this.config.POLICY_DIALECT === 'openai') {
      const texts = await this.recovery.texts(ids);
      return texts?.forEach((text, i) => this.known.set(ids[i]!, text));
    }
    const engine = this.pool.states().find(({ problem }) => problem === null)?.url;
    if (engine === undefined || performance.now() < this.pausedUntil) return;
    const enough = new AbortController();
    const timer = setTimeout(() => enough.abort(), PATIENCE_MS);
    try {
      await Promise.all(this.batches(ids).map((batch) => this.learnFrom(engine, batch, enough)));
    } finally {
      clearTimeout(timer);
    }
  }

  private batches(ids: readonly number[]): readonly (readonly number[])[] {
    const size = this.config.POLICY_DIALECT === 'sglang' ? BATCH : 1;
    return Array.from({ length: Math.ceil(ids.length / size) }, (_, i) => ids.slice(i * size, (i + 1) * size));
  }

  private learnFrom(engine: string, ids: readonly number[], enough: AbortController): Promise<void> {
    return this.slots.run(async () => {
      if (enough.signal.aborted) return;
      try {
        const texts = await this.ask(engine, ids, enough.signal);
        ids.forEach((id, i) => this.known.set(id, textOfTwice(texts[i]!)));
      } catch (error) {
        if (enough.signal.aborted) return;
        enough.abort();
        this.pausedUntil = performance.now() + PAUSE_MS;
        this.log.warn('token-texts.failed', { error });
      }
    });
  }

  /** Each id twice in a row, see {@link textOfTwice}. What the engine refuses as an id has no text. */
  private async ask(engine: string, ids: readonly number[], signal: AbortSignal): Promise<readonly string[]> {
    const lists = ids.map((id) => [id, id]);
    const isSglang = this.config.POLICY_DIALECT === 'sglang';
    const body = isSglang
      ? { model: this.config.POLICY_MODEL, tokens: lists, skip_special_tokens: false }
      : { model: this.config.POLICY_MODEL, tokens: lists[0]! };
    const response = await this.client.post(engine, '../detokenize', body, {}, signal);
    const text = new TextDecoder().decode(await readEngineBody(response.body));
    if (response.statusCode === 400) return ids.map(() => NO_TEXT);
    const answer =
      response.statusCode === 200 ? (JSON.parse(text) as { prompt?: unknown; text?: unknown } | null) : null;
    const texts: unknown = isSglang ? answer?.text : [answer?.prompt];
    if (!Array.isArray(texts) || texts.length !== ids.length || !texts.every((each) => typeof each === 'string'))
      throw new HindcastError('engine-invalid-response', 'the engine gave no texts for tokens');
    return texts as string[];
  }
}

const NO_TEXT = '\uFFFD';
