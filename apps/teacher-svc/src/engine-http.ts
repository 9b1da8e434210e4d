import { DependencyUnavailable } from '@hindcast/contracts';
import { CONFIG } from '@hindcast/platform';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Agent, request } from 'undici';
import type { TeacherConfig } from './config';

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

  constructor(@Inject(CONFIG) private readonly config: TeacherConfig) {
    // A turn tokenises both of its prompts at once.
    this.agent = new Agent({ connections: 2 * config.TEACHER_CONCURRENCY, keepAliveTimeout: 30_000 });
  }

  async onModuleDestroy(): Promise<void> {
    await this.agent.destroy();
  }

  /** @throws DependencyUnavailable when the engine is away, too slow or answers 5xx */
  post(place: EnginePlace, path: string, body: unknown): Promise<EngineReply> {
    return this.call(place, path, 'POST', JSON.stringify(body));
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
    // Paths name `/v1` themselves: `/tokenize` and `/generate` lie beside it.
    const url = `${baseUrl.replace(/\/v1$/, '')}${path}`;
    const away = (why: string, cause?: unknown): DependencyUnavailable =>
      new DependencyUnavailable('teacher engine', `${path}: ${why}`, 1_000, { cause });
    let status: number;
    let bytes: ArrayBuffer;
    try {
      const response = await request(url, {
        method,
        dispatcher: this.agent,
        signal: AbortSignal.timeout(this.config.TEACHER_TIMEOUT_MS),
        headers: {
          ...(body === null ? {} : { 'content-type': 'application/json' }),
          ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
        },
        body,
      });
      status = response.statusCode;
      bytes = await response.body.arrayBuffer();
    } catch (cause) {
      throw away('unreachable', cause);
    }
    if (status === 500) throw new EngineFault('teacher engine', `${path}: status 500`);
    if (status >= 500 || AWAY.has(status)) throw away(`status ${status}`);
    return { path, status, body: Buffer.from(bytes) };
  }
}
