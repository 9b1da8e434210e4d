import { DependencyUnavailable } from '@hindcast/contracts';
import { CONFIG, setHttpStatus, startHttpCall } from '@hindcast/platform';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Agent } from 'undici';
import type { TeacherConfig } from './config';
import { exchange, type Exchanged } from './engine-exchange';

export interface EnginePlace {
  /** With `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

export interface EngineReply {
  readonly path: string;
  /** 200, or one that another try does not change. */
  readonly status: number;
  readonly body: Buffer;
}

/** The engine answered 500: it may be in trouble, or these ids may be what it cannot do. */
export class EngineFault extends DependencyUnavailable {}

/** Statuses that say nothing about the request itself: the server is busy, restarting, or wants another key. */
const AWAY = new Set([401, 403, 408, 425, 429]);

/** Calls to engines over kept connections. */
@Injectable()
export class EngineHttp implements OnModuleDestroy {
  private readonly agent: Agent;
  private readonly addresses = new Map<string, EngineAddress>();

  constructor(@Inject(CONFIG) private readonly config: TeacherConfig) {
    // A turn tokenises both of its prompts at once.
    this.agent = new Agent({
      connections: 2 * config.TEACHER_CONCURRENCY,
      keepAliveTimeout: 30_000,
      // `TEACHER_TIMEOUT_MS` bounds every silence.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.agent.destroy();
  }

  /** @throws DependencyUnavailable when the engine is away, too slow or answers 5xx */
  post(place: EnginePlace, path: string, body: unknown): Promise<EngineReply> {
    return this.call(place, path, 'POST', JSON.stringify(body));
  }

  /** As {@link post}, of a body that is JSON already. */
  postWritten(place: EnginePlace, path: string, json: string): Promise<EngineReply> {
    return this.call(place, path, 'POST', json);
  }

  /** @throws DependencyUnavailable, as for `post` */
  get(place: EnginePlace, path: string): Promise<EngineReply> {
    return this.call(place, path, 'GET', null);
  }

  private async call(
    { baseUrl, apiKey }: EnginePlace,
    path: string,
    method: 'GET' | 'POST',
    body: string | null,
  ): Promise<EngineReply> {
    const { origin, root } = this.address(baseUrl);
    const headers: Record<string, string> = {};
    if (body !== null) headers['content-type'] = 'application/json';
    if (apiKey) headers['authorization'] = `Bearer ${apiKey}`;
    const span = startHttpCall(method, baseUrl);
    Object.assign(headers, span.context);
    const options = { origin, path: `${root}${path}`, method, headers, body };
    const away = (why: string, cause?: unknown): DependencyUnavailable =>
      new DependencyUnavailable('teacher engine', `${path}: ${why}`, 1_000, { cause });
    let answer: Exchanged;
    try {
      answer = await exchange(this.agent, options, this.config.TEACHER_TIMEOUT_MS);
      setHttpStatus(span, answer.statusCode, 400);
    } catch (cause) {
      span.fail(cause);
      throw away('unreachable', cause);
    } finally {
      span.end();
    }
    const { statusCode: status } = answer;
    if (status === 500) throw new EngineFault('teacher engine', `${path}: status 500`);
    if (status >= 500 || AWAY.has(status)) throw away(`status ${status}`);
    return { path, status, body: answer.body };
  }

  private address(baseUrl: string): EngineAddress {
    let known = this.addresses.get(baseUrl);
    if (!known) {
      const { origin, pathname } = new URL(baseUrl);
      // Paths name `/v1` themselves: `/tokenize` and `/generate` lie beside it.
      known = { origin, root: pathname.replace(/\/+$/, '').replace(/\/v1$/, '') };
      this.addresses.set(baseUrl, known);
    }
    return known;
  }
}

interface EngineAddress {
  readonly origin: string;
  /** What stands before `/v1`; mostly nothing. */
  readonly root: string;
}
