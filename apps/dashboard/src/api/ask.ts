// Every request of the page goes through `ask`. Pages read with `useAnswer` and write with `useOrder`.
import { currentKey, refuseKey } from './session-key';

/** What went wrong with a request, in words for a person. `status` is 0 when there was no answer. */
export class AskFailure extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string | null,
  ) {
    super(message);
  }
}

export interface AskOptions {
  readonly method?: 'GET' | 'POST';
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** An answer other than 401 and 403 is tried with this key instead of the one that is kept. */
  readonly key?: string;
}

/** Headers with the key, if there is one. It goes into a header only, never into an address. */
export function keyHeaders(key: string | null = currentKey()): Record<string, string> {
  return key === null ? {} : { authorization: `Bearer ${key}` };
}

/**
 * JSON of a path such as `/admin/v1/turns?limit=50`.
 * @throws AskFailure; the signal's reason when it was aborted
 */
export async function ask<T>(path: string, { method = 'GET', body, signal, key }: AskOptions = {}): Promise<T> {
  const response = await send(path, {
    method,
    headers: { ...keyHeaders(key), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
    cache: 'no-store',
  });
  const answer = await read(response, signal);
  if (response.ok) return answer as T;
  const failure = failureOf(response, answer);
  if (response.status === 401 && key === undefined)
    refuseKey(currentKey() === null ? '' : 'The gateway does not take the key any more.');
  throw failure;
}

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new AskFailure(`The gateway does not answer (${error instanceof Error ? error.message : error}).`, 0, null);
  }
}

async function read(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    signal?.throwIfAborted();
    if (!response.ok) return null;
    throw new AskFailure('The answer of the gateway broke off, or is no JSON.', response.status, null);
  }
}

/** Of an answer in OpenAI's error shape, or of any other. */
export function failureOf(response: Response, answer: unknown): AskFailure {
  const error = (answer as { error?: { message?: unknown; code?: unknown } } | null)?.error;
  const message =
    typeof error?.message === 'string'
      ? error.message
      : `The gateway answered ${response.status} ${response.statusText}.`;
  return new AskFailure(message, response.status, typeof error?.code === 'string' ? error.code : null);
}
