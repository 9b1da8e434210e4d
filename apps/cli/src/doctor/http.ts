import { reasonOf } from '../core/network-reason';

/** A server that a check talks to. */
export interface Server {
  /** With `/v1`. */
  readonly baseUrl: string;
  readonly key: string | undefined;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
  /** What the text is as JSON; `undefined` where it is none. */
  readonly json: unknown;
  /** The server's clock against this one's, ms; `null` where it sends no Date. The header has whole seconds. */
  readonly clockMs: number | null;
  readonly elapsedMs: number;
}

/** A server that does not answer. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

const TIMEOUT_MS = 30_000;

/** @throws Unreachable */
export async function call(
  { key }: Pick<Server, 'key'>,
  url: string,
  body?: object,
  timeoutMs = TIMEOUT_MS,
): Promise<Reply> {
  const started = Date.now();
  try {
    const response = await fetch(url, {
      method: body ? 'POST' : 'GET',
      headers: {
        ...(body && { 'content-type': 'application/json' }),
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answered = Date.now();
    const text = await response.text();
    const date = Date.parse(response.headers.get('date') ?? '');
    return {
      status: response.status,
      text,
      json: parsed(text),
      clockMs: Number.isNaN(date) ? null : date + 500 - (started + answered) / 2,
      elapsedMs: Date.now() - started,
    };
  } catch (cause) {
    throw new Unreachable(reasonOf(cause), { cause });
  }
}

/** The base URL without `/v1`. */
export const rootOf = (baseUrl: string): string => baseUrl.replace(/\/v1$/, '');

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a server says of its refusal, in one line. */
export function refusalOf({ status, json, text }: Reply): string {
  const body = json as { error?: { message?: unknown } | string; message?: unknown; detail?: unknown } | undefined;
  const nested = typeof body?.error === 'string' ? body.error : body?.error?.message;
  const said = [nested, body?.message, body?.detail].find((part) => typeof part === 'string') ?? text;
  return `status ${status}: ${String(said).replace(/\s+/g, ' ').trim().slice(0, 200)}`;
}
