import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { CONFIG, reusedMemory } from '@hindcast/platform';
import { Agent, errors, request } from 'undici';
import type { StopSignal } from './abort';
import type { GatewayConfig } from './config';
import { parseAnswerJson } from './core/answer-json';
import type { FailureKind } from './core/circuit';
import { exactJson } from './core/exact-numbers';
import type { ListedModel } from './core/route-model';
import { NO_LABELS, type WeightsLabel } from './core/weights-label';
import { readEngineBody } from './engine-body';
import { exchange, type EngineResponse } from './engine-exchange';
import { sendingConnector, whenSent } from './sent-bodies';

/** Headers of a client that an engine may see. Everything else stops here: keys, cookies, session ids. */
const FORWARDED = ['traceparent', 'tracestate', 'x-request-id'];
const MODELS_TIMEOUT_MS = 2_000;
/** Engines answer this beside their work: a busy one may take a while. */
const HEALTH_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 10_000;

interface Place {
  readonly origin: string;
  readonly path: string;
}

/** Calls the policy engines. */
@Injectable()
export class EngineClient implements OnApplicationShutdown {
  private readonly agent: Agent;
  private readonly places = new Map<string, Place>();

  constructor(@Inject(CONFIG) private readonly config: GatewayConfig) {
    this.agent = new Agent({
      headersTimeout: config.POLICY_TIMEOUT_MS,
      bodyTimeout: config.POLICY_TIMEOUT_MS,
      connect: sendingConnector(CONNECT_TIMEOUT_MS),
      // Shorter than the usual 5 s of uvicorn and Node: the engine must not close a connection that a request is on.
      keepAliveTimeout: 3_000,
      keepAliveMaxTimeout: 3_000,
    });
  }

  /** Comes after the last answer has been handed on. */
  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }

  /**
   * @param path below the engine's base URL, e.g. `chat/completions`
   * @throws HindcastError `engine-unreachable` or `engine-timeout`; any status is an answer.
   */
  async post(
    engine: string,
    path: string,
    body: object,
    headers: Readonly<Record<string, unknown>>,
    signal: StopSignal,
  ): Promise<EngineResponse> {
    try {
      const { origin, path: place } = this.placeOf(`${engine}/${path}`);
      const sent = this.headers(headers);
      sent['content-type'] = 'application/json';
      const json = engineJson(body as Readonly<Record<string, unknown>>);
      return await exchange(this.agent, { origin, path: place, method: 'POST', headers: sent, body: json }, signal);
    } catch (error) {
      throw engineError(error);
    }
  }

  /**
   * Status of the engine's health check: `GET ROOT/health` of vLLM and SGLang; another server is asked for its models.
   *
   * @throws HindcastError `engine-unreachable` or `engine-timeout`
   */
  async health(engine: string): Promise<number> {
    const url = this.config.POLICY_DIALECT === 'openai' ? `${engine}/models` : `${engine.replace(/\/v1$/, '')}/health`;
    try {
      const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS);
      const response = await request(url, { dispatcher: this.agent, headers: this.headers({}), signal });
      await response.body.dump();
      return response.statusCode;
    } catch (error) {
      throw engineError(error);
    }
  }

  /** The engine's own list, as it gave it. */
  async models(engine: string): Promise<{ readonly raw: readonly unknown[]; readonly listed: readonly ListedModel[] }> {
    try {
      const signal = AbortSignal.timeout(MODELS_TIMEOUT_MS);
      const response = await request(`${engine}/models`, { dispatcher: this.agent, headers: this.headers({}), signal });
      const body = parseAnswerJson(await readEngineBody(response.body)) as { data?: unknown } | null;
      if (response.statusCode !== 200 || !Array.isArray(body?.data))
        throw new HindcastError('engine-invalid-response', 'the engine lists no models');
      const raw = body.data.filter(
        (model): model is { id: string; parent?: unknown } =>
          typeof (model as { id?: unknown } | null)?.id === 'string',
      );
      return { raw, listed: raw.map(({ id, parent }) => ({ id, parent: typeof parent === 'string' ? parent : null })) };
    } catch (error) {
      throw engineError(error);
    }
  }

  /**
   * What the engine's only weights are labelled: `weight_version` of vLLM's `GET ROOT/weight_info` or SGLang's `GET ROOT/model_info`;
   * `no-labels` where the server knows none.
   *
   * @throws HindcastError `engine-…` when it does not say
   */
  async weightsLabel(engine: string): Promise<WeightsLabel> {
    const { POLICY_DIALECT: dialect } = this.config;
    if (dialect === 'openai') return NO_LABELS;
    for (const path of dialect === 'sglang' ? ['model_info', 'get_model_info'] : ['weight_info']) {
      const info = await this.info(`${engine.replace(/\/v1$/, '')}/${path}`);
      if (info !== null) return typeof info['weight_version'] === 'string' ? info['weight_version'] : null;
    }
    return NO_LABELS;
  }

  /** `null`: the server has no such path. */
  private async info(url: string): Promise<Record<string, unknown> | null> {
    try {
      const signal = AbortSignal.timeout(MODELS_TIMEOUT_MS);
      const response = await request(url, { dispatcher: this.agent, headers: this.headers({}), signal });
      const bytes = await readEngineBody(response.body);
      if (response.statusCode === 404) return null;
      const body = response.statusCode === 200 ? parseAnswerJson(bytes) : null;
      if (typeof body !== 'object' || body === null)
        throw new HindcastError('engine-invalid-response', 'the engine does not say which weights it has');
      return body as Record<string, unknown>;
    } catch (error) {
      throw engineError(error);
    }
  }

  /** A URL is taken apart once. */
  private placeOf(url: string): Place {
    let place = this.places.get(url);
    if (!place) {
      const { origin, pathname, search } = new URL(url);
      this.places.set(url, (place = { origin, path: pathname + search }));
    }
    return place;
  }

  private headers(client: Readonly<Record<string, unknown>>): Record<string, string> {
    const headers: Record<string, string> = {};
    for (const name of FORWARDED) if (typeof client[name] === 'string') headers[name] = client[name];
    if (this.config.POLICY_API_KEY) headers['authorization'] = `Bearer ${this.config.POLICY_API_KEY}`;
    return headers;
  }
}

/** One that is long is in memory that goes back once it has left. */
function engineJson(body: Readonly<Record<string, unknown>>): Buffer {
  let giveBack: (() => void) | null = null;
  const json = exactJson(body, (bytes) => {
    const lease = reusedMemory.lease(bytes);
    if (reusedMemory.reuses(bytes)) giveBack = () => lease.giveBack();
    return lease.bytes.subarray(0, bytes);
  });
  if (giveBack) whenSent(json, giveBack);
  return json;
}

/** An engine's failure in our words; what the engine was called stays inside. */
export function engineError(error: unknown): HindcastError {
  if (error instanceof HindcastError) return error;
  const isTimeout =
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError ||
    error instanceof errors.ConnectTimeoutError;
  if (isTimeout || (error as Error | null)?.name === 'TimeoutError') {
    return new HindcastError('engine-timeout', 'the engine did not answer in time', { cause: error });
  }
  if (error instanceof SyntaxError)
    return new HindcastError('engine-invalid-response', 'the engine did not answer with JSON', { cause: error });
  return new HindcastError('engine-unreachable', 'the engine cannot be reached or closed the connection', {
    cause: error,
  });
}

/** What a failed call says of the engine. A call that found no connection never arrived: another engine may be asked. */
export function failureKind(error: HindcastError): Exclude<FailureKind, 'status'> {
  const cause = error.cause as { code?: unknown; syscall?: unknown } | undefined;
  const isUnconnected =
    cause instanceof errors.ConnectTimeoutError ||
    ['connect', 'getaddrinfo'].includes(String(cause?.syscall)) ||
    ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'].includes(String(cause?.code));
  if (isUnconnected) return 'unreachable';
  return error.code === 'engine-timeout' ? 'timeout' : 'cut';
}
