import { CONFIG, setHttpStatus, startHttpCall } from '@hindcast/platform';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Pool } from 'undici';
import type { JudgeConfig } from './config';
import { readCompletion, type Completion } from './core/completion';
import { mayRefuseFormat, prospectOf, readRetryAfter, type Prospect } from './core/retry';
import { exchange, type Exchanged } from './judge-exchange';
import type { VoteClock } from './vote-clock';

/** What one request to the judge came to. */
export type Answer =
  | { readonly ok: true; readonly completion: Completion }
  | ({
      readonly ok: false;
      /** Also for logs: never holds text of the judge. */
      readonly why: string;
      readonly retryAfterMs: number | null;
      /** A 200 that is no chat completion: it may have cost something. */
      readonly paid: boolean;
      /** The server may not know `response_format`. */
      readonly refusesFormat: boolean;
    } & Prospect);

/** Largest reply that is read, bytes: many times what `JUDGE_MAX_TOKENS` allows, reasoning included. */
const REPLY_LIMIT_BYTES = 4 * 1024 * 1024;
/** Of a refusal only the beginning is looked at. */
const REFUSAL_LIMIT_BYTES = 16 * 1024;
const CONNECT_MS = 10_000;
/** Without a byte order mark, and with what is no UTF-8 replaced. */
const utf8 = new TextDecoder();

const failure = { ok: false, retryAfterMs: null, paid: false, refusesFormat: false } as const;

/** Sends single requests to an OpenAI-compatible judge. `docs/engine-calls.md` §3 is this file in words. */
@Injectable()
export class JudgeEndpoint implements OnModuleDestroy {
  private readonly pool: Pool;
  private readonly origin: string;
  private readonly path: string;
  private readonly headers: Readonly<Record<string, string>>;

  constructor(@Inject(CONFIG) config: JudgeConfig) {
    const base = new URL(config.JUDGE_BASE_URL);
    this.path = `${base.pathname.replace(/\/+$/, '')}/chat/completions${base.search}`;
    this.headers = {
      'content-type': 'application/json',
      ...(config.JUDGE_API_KEY ? { authorization: `Bearer ${config.JUDGE_API_KEY}` } : {}),
    };
    this.origin = base.origin;
    this.pool = new Pool(base.origin, {
      connections: config.JUDGE_CONCURRENCY,
      keepAliveTimeout: 30_000,
      connect: { timeout: Math.min(CONNECT_MS, config.VOTE_TIMEOUT_MS) },
      // The deadline of a vote bounds every silence.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** Never throws: what the network does to a request is an answer too. @param body JSON */
  async send(body: Uint8Array, clock: VoteClock): Promise<Answer> {
    const span = startHttpCall('POST', this.origin);
    const headers = { ...this.headers, ...span.context };
    try {
      const answer = await exchange(
        this.pool,
        { method: 'POST', path: this.path, headers, body },
        clock,
        (statusCode) => (statusCode === 200 ? REPLY_LIMIT_BYTES : REFUSAL_LIMIT_BYTES),
      );
      setHttpStatus(span, answer.statusCode, 400);
      return answer.statusCode === 200 ? read(answer) : refusal(answer);
    } catch (error) {
      span.fail(error);
      const code = (error as NodeJS.ErrnoException).code ?? (error as Error).name;
      return { ...failure, why: `no answer: ${code}`, again: true, broken: true };
    } finally {
      span.end();
    }
  }

  async onModuleDestroy(): Promise<void> {
    await this.pool.destroy();
  }
}

function read({ body }: Exchanged): Answer {
  if (body === null) return { ...failure, why: 'a reply without end', paid: true, again: false, broken: true };
  const completion = readCompletion(utf8.decode(body));
  if (completion) return { ok: true, completion };
  return { ...failure, why: 'no chat completion', paid: true, again: true, broken: true };
}

function refusal({ statusCode, retryAfter, body }: Exchanged): Answer {
  return {
    ...failure,
    ...prospectOf(statusCode),
    why: `status ${statusCode}`,
    retryAfterMs: readRetryAfter(retryAfter, Date.now()),
    refusesFormat: mayRefuseFormat(statusCode, body === null ? '' : utf8.decode(body)),
  };
}
