import { HindcastError } from '@hindcast/contracts';
import { setHttpStatus, startHttpCall } from '@hindcast/platform';
import { z } from 'zod';

export interface EngineAddress {
  /** With `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
}

/** HTTP to one engine. Every failure is a HindcastError that can be retried; none names the key. */
export class EngineHttp {
  constructor(private readonly address: EngineAddress) {}

  get baseUrl(): string {
    return this.address.baseUrl;
  }

  /** Without `/v1`: where SGLang's own calls and vLLM's development calls are. */
  get root(): string {
    return this.baseUrl.replace(/\/v1\/?$/, '');
  }

  /** The reply: JSON where it is JSON, else its text. */
  async call(method: 'GET' | 'POST', url: string, body?: object, timeoutMs = this.address.timeoutMs): Promise<unknown> {
    const { status, text } = await this.exchange(method, url, body, timeoutMs);
    if (status >= 400) throw new EngineRefusal(`${url} answered ${status}: ${text.slice(0, 300)}`, status);
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }

  /** @throws HindcastError `engine-invalid-response` when the value is not of that form */
  parse<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
    const result = schema.safeParse(value);
    if (!result.success) throw new EngineRefusal(`${this.baseUrl}: ${z.prettifyError(result.error)}`, null);
    return result.data;
  }

  private async exchange(
    method: string,
    url: string,
    body: object | undefined,
    timeoutMs: number,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { apiKey } = this.address;
    const span = startHttpCall(method, url);
    try {
      const response = await fetch(url, {
        method,
        headers: {
          ...(body && { 'content-type': 'application/json' }),
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
          ...span.context,
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      setHttpStatus(span, response.status, 400);
      const text = await response.text();
      // An engine may quote the key that it refuses, and what it says is logged.
      return { status: response.status, text: apiKey === undefined ? text : text.replaceAll(apiKey, '…') };
    } catch (cause) {
      span.fail(cause);
      const isTimeout = (cause as { name?: unknown } | null)?.name === 'TimeoutError';
      const code = isTimeout ? 'engine-timeout' : 'engine-unreachable';
      const what = isTimeout ? `gave no answer in ${timeoutMs} ms` : 'cannot be reached';
      throw new HindcastError(code, `${url} ${what}`, { cause });
    } finally {
      span.end();
    }
  }
}

/** The engine answered, but not with what was asked for; `status` is `null` where it was the body that said so. */
export class EngineRefusal extends HindcastError {
  constructor(
    message: string,
    readonly status: number | null,
  ) {
    super('engine-invalid-response', message);
  }
}
