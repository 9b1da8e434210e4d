import { HindcastError, errorCodes, readNewer, type ErrorCode } from '@hindcast/contracts';
import type { z } from 'zod';
import { reasonOf } from './core/network-reason';

/** Of a request that is answered at once. */
const TIMEOUT_MS = 15_000;

export interface GatewayPlace {
  /** Without `/v1` and without a slash at its end. */
  readonly url: string;
  readonly key: string | null;
}

/** A refusal, with the status it came with. */
export class GatewayRefusal extends HindcastError {
  override readonly name = 'GatewayRefusal';
  constructor(
    readonly status: number,
    code: ErrorCode,
    message: string,
  ) {
    super(code, message);
  }
}

/** A gateway over HTTP. Its errors say what to do. */
export class Gateway {
  constructor(readonly place: GatewayPlace) {}

  async get<S extends z.ZodType>(path: string, schema: S): Promise<z.infer<S>> {
    return this.read(path, schema, await this.request(path, { signal: AbortSignal.timeout(TIMEOUT_MS) }));
  }

  async post<S extends z.ZodType>(path: string, body: object, schema: S): Promise<z.infer<S>> {
    return this.read(path, schema, await this.send(path, body, AbortSignal.timeout(TIMEOUT_MS)));
  }

  /** The answer as it comes, once its status says that it is one. */
  async send(path: string, body: object, signal: AbortSignal, headers: Record<string, string> = {}): Promise<Response> {
    return await this.request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal,
    });
  }

  private async request(path: string, init: RequestInit): Promise<Response> {
    const { url, key } = this.place;
    const headers = { ...init.headers, ...(key !== null && { authorization: `Bearer ${key}` }) };
    let response: Response;
    try {
      response = await fetch(`${url}${path}`, { ...init, headers });
    } catch (cause) {
      if (init.signal?.aborted === true && !(init.signal.reason instanceof DOMException)) throw cause;
      throw new HindcastError(
        'dependency-unavailable',
        `the gateway at ${url} does not answer (${reasonOf(cause)}); start it (npx hindcast up), or name another by --gateway or HINDCAST_URL`,
        { cause },
      );
    }
    if (response.ok) return response;
    throw await this.refusal(response);
  }

  private async read<S extends z.ZodType>(path: string, schema: S, response: Response): Promise<z.infer<S>> {
    const json: unknown = await response.json().catch(() => undefined);
    const reading = readNewer(schema, json);
    if (reading.success) return reading.data;
    const [issue] = reading.error.issues;
    const why = json === undefined ? 'no JSON' : `${issue!.path.join('.')}: ${issue!.message}`;
    throw new HindcastError(
      'engine-invalid-response',
      `${this.place.url}${path} answers what this version does not understand (${why}); is it a gateway of this version?`,
    );
  }

  private async refusal(response: Response): Promise<GatewayRefusal> {
    const text = await response.text().catch(() => '');
    const { message, code } = errorIn(text);
    const { status } = response;
    const said = message ?? `status ${status}`;
    const [known, advice] = ADVICE[status] ?? [null, ''];
    return new GatewayRefusal(status, code ?? known ?? 'internal', `the gateway refuses: ${said}${advice}`);
  }
}

const ADVICE: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  401: ['unauthorized', '. Put an API key into HINDCAST_API_KEY, or name a file that holds one by --key-file'],
  403: ['unauthorized', '. This needs a key of ADMIN_API_KEYS, or one of API_KEYS_FILE with "admin": true'],
  404: ['not-found', ''],
  503: ['ledger-unavailable', ''],
};

function errorIn(text: string): { message: string | null; code: ErrorCode | null } {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown; code?: unknown } };
    return {
      message: typeof error?.message === 'string' ? error.message : null,
      code: typeof error?.code === 'string' && error.code in errorCodes ? (error.code as ErrorCode) : null,
    };
  } catch {
    return { message: null, code: null };
  }
}
