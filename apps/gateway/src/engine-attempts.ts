import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { CONFIG, Log, setHttpStatus, startHttpCall, type LogContext, type Span } from '@hindcast/platform';
import { unlessAborted, type StopSignal } from './abort';
import type { GatewayConfig } from './config';
import type { EngineWish } from './core/engine-order';
import { isRepeatable, retriesLeft, retryAfterMs, retryReason, retryWaitMs, type AttemptEnd } from './core/retry-rule';
import { EngineClient, engineError, failureKind } from './engine-client';
import type { EngineResponse } from './engine-exchange';
import { EnginePool, type EnginePlace } from './engine-pool';
import { EnginesAway } from './engines-away';
import { GatewayMetrics } from './gateway-metrics';

/** An engine's response, whatever its status, and who gave it. */
export interface RoutedResponse {
  readonly response: EngineResponse;
  readonly engine: string;
  /** Model name that was sent. */
  readonly model: string;
  /** Called once the answer is over. */
  readonly release: () => void;
}

/** A request on its way, whichever engine it goes to. */
export interface Errand {
  /** Below an engine's base URL, e.g. `chat/completions`. */
  readonly path: string;
  readonly body: object;
  readonly model: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly signal: StopSignal;
  /** Of the lines that are logged about it. */
  readonly ids: LogContext | undefined;
  readonly span: Span | undefined;
}

/** What an engine may take for a body that nobody reads. */
const DUMP_MS = 1_000;
const DUMP_BYTES = 64 * 1024;

/** What came of one attempt: what the caller gets if it was the last, and how it failed, `null` for an answer. */
interface Attempt {
  readonly outcome: RoutedResponse | HindcastError;
  readonly end: AttemptEnd | null;
}

/** Sends requests to engines, again where that is allowed. Once an engine's answer has begun it is never sent again. */
@Injectable()
export class EngineAttempts {
  constructor(
    @Inject(CONFIG) private readonly config: GatewayConfig,
    private readonly client: EngineClient,
    private readonly pool: EnginePool,
    private readonly metrics: GatewayMetrics,
    private readonly log: Log,
  ) {}

  /**
   * The best engine's response; of the last attempt, where there were several.
   *
   * @throws HindcastError `engine-…` when it got none, EnginesAway when nobody is asked
   */
  async answer(wanted: Omit<EngineWish, 'tried'>, errand: Errand): Promise<RoutedResponse> {
    const retries = retriesLeft(this.config.POLICY_RETRIES, errand.headers['x-stainless-retry-count']);
    const tried = new Set<string>();
    const wish: EngineWish = { ...wanted, tried };
    let cuts = 0;
    for (let number = 1; ; number++) {
      const place = this.pool.take(wish);
      if (!place) throw new EnginesAway(this.pool.waitMs());
      const attempt = await this.attempt(place, errand);
      tried.add(place.engine);
      if (attempt.end?.kind === 'cut') cuts++;
      const again = number <= retries ? this.again(attempt, number, cuts, wish, errand) : null;
      if (again === null) return accepted(attempt.outcome);
      this.log.warn('engine.retry', { ...errand.ids, engine: place.engine, reason: again.reason, attempt: number });
      this.metrics.retried(again.reason);
      discard(attempt.outcome);
      await unlessAborted(sleep(again.waitMs, undefined, { ref: false }), errand.signal);
    }
  }

  /** One attempt at one engine. */
  async once(engine: string, errand: Errand): Promise<RoutedResponse> {
    return accepted((await this.attempt(this.pool.placeAt(engine), errand)).outcome);
  }

  /** Why and after which pause the request is sent again; `null` when it is not. */
  private again(
    { end, outcome }: Attempt,
    number: number,
    cuts: number,
    wish: EngineWish,
    { body }: Errand,
  ): { readonly reason: string; readonly waitMs: number } | null {
    if (end === null) return null;
    const { POLICY_RETRY_CUT, POLICY_RETRY_MAX_WAIT_MS } = this.config;
    const reason = retryReason(end, { isRepeatable: isRepeatable(body), retryCut: POLICY_RETRY_CUT, cuts });
    const next = reason === null ? null : this.pool.next(wish);
    if (reason === null || next === null) return null;
    // The pause is for the engine that asked for it.
    if (!wish.tried.has(next)) return { reason, waitMs: 0 };
    const asked =
      outcome instanceof HindcastError ? null : retryAfterMs(outcome.response.headers['retry-after'], Date.now());
    const waitMs = retryWaitMs(number, asked, POLICY_RETRY_MAX_WAIT_MS, Math.random());
    return waitMs === null ? null : { reason, waitMs };
  }

  private async attempt(place: EnginePlace, errand: Errand): Promise<Attempt> {
    const { path, body, model, headers, signal } = errand;
    const span = startHttpCall('POST', place.engine, errand.span ?? null);
    try {
      const sent = span.context ? { ...headers, tracestate: null, ...span.context } : headers;
      const response = await this.client.post(place.engine, path, { ...body, model }, sent, signal);
      const { statusCode: status } = response;
      span.set({ 'gen_ai.request.model': model });
      setHttpStatus(span, status, 400);
      // Not implemented is an engine's answer like any other.
      if (status >= 500 && status !== 501) place.failed('status');
      else place.answered(response);
      const release = (): void => {
        span.end();
        place.release();
      };
      const outcome = { response, engine: place.engine, model, release };
      return { outcome, end: status === 200 ? null : { kind: 'status', status } };
    } catch (error) {
      const failure = engineError(error);
      const kind = failureKind(failure);
      span.fail(failure);
      span.end();
      // A client that went away says nothing of the engine.
      if (!signal.aborted) place.failed(kind);
      place.release();
      if (signal.aborted) throw failure;
      this.log.warn('engine.failed', { ...errand.ids, engine: place.engine, kind, error: failure });
      return { outcome: failure, end: { kind } };
    }
  }
}

function accepted(outcome: RoutedResponse | HindcastError): RoutedResponse {
  if (outcome instanceof HindcastError) throw outcome;
  return outcome;
}

/** Nobody reads the body, and nobody waits for it: one that is short leaves its connection for the next request, any other is closed. */
export function letGo({ response }: RoutedResponse): void {
  const { body } = response;
  const close = setTimeout(() => body.destroy(), DUMP_MS);
  close.unref();
  void body.dump(DUMP_BYTES).then(() => clearTimeout(close));
}

/** An answer that nobody gets. */
function discard(outcome: RoutedResponse | HindcastError): void {
  if (outcome instanceof HindcastError) return;
  letGo(outcome);
  outcome.release();
}
