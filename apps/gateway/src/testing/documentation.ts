import type { OpenApi } from '../core/open-api/document';
import type { Method, Operation } from '../core/open-api/operation';
import type { Reply } from '../core/open-api/replies';
import type { Schema } from '../core/open-api/schema';
import { dataOf } from './gateway-harness';
import { SchemasOf } from './json-schema';

/** Headers of HTTP itself and of event streams. */
const PLAIN_HEADERS = new Set([
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'x-accel-buffering',
]);

/** A reply as a client got it. */
export interface SeenReply {
  readonly method: Method;
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A request: a body is sent as JSON, a text as it is. */
export interface Call {
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The engine makes the error. */
  readonly isEngines?: boolean;
}

/** The document against what really comes over the wire. Every status that it was asked about is remembered. */
export class Documentation {
  readonly seen = new Set<string>();
  private readonly schemas: SchemasOf;

  constructor(private readonly document: OpenApi) {
    this.schemas = new SchemasOf(document);
  }

  /** `get /path status` of every documented reply. */
  get documented(): string[] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { responses }]) =>
        Object.keys(responses).map((status) => `${method} ${path} ${status}`),
      ),
    );
  }

  /** Asks, and holds what comes against the document. @returns the status */
  async ask(method: Method, url: string, path: string, call: Call = {}): Promise<number> {
    const { body, text, headers, isEngines } = call;
    const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(url + path, {
      method: method.toUpperCase(),
      headers: { ...(sent !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(sent !== undefined && { body: sent }),
    });
    const reply = { method, path, status: response.status, headers: response.headers, text: await response.text() };
    expect(this.problems(reply, isEngines)).toEqual([]);
    if (response.ok && body !== undefined) expect(this.requestProblems(method, path, body)).toEqual([]);
    return response.status;
  }

  /**
   * What the document does not say of a reply, or says otherwise.
   *
   * @param isEngines the engine made the error: where its status is not documented by itself, its range may be
   */
  problems(reply: SeenReply, isEngines = false): string[] {
    const { method, path, status } = reply;
    const found = this.operation(method, path);
    if (!found) return [`${method} ${path} is not documented`];
    const { responses } = found.operation;
    const key = responses[status] ? String(status) : isEngines ? `${String(status)[0]}XX` : '';
    const documented = responses[key];
    if (!documented) return [`${method} ${path}: ${status} is not documented: ${reply.text}`];
    this.seen.add(`${method} ${found.template} ${key}`);
    return [...this.headerProblems(documented, reply.headers), ...this.bodyProblems(documented, reply, isEngines)].map(
      (problem) => `${method} ${path} ${status}: ${problem}: ${reply.text.slice(0, 500)}`,
    );
  }

  /** What the document has against a body that the gateway takes. */
  requestProblems(method: Method, path: string, body: unknown): string[] {
    const schema = this.operation(method, path)?.operation.requestBody?.content['application/json']?.schema;
    return schema ? this.schemas.problems(schema, body) : [`${method} ${path} takes no body`];
  }

  private operation(method: Method, path: string): { template: string; operation: Operation } | null {
    const [plain] = path.split('?', 1);
    for (const [template, methods] of Object.entries(this.document.paths)) {
      const pattern = new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`);
      const operation = methods[method];
      if (pattern.test(plain!) && operation) return { template, operation };
    }
    return null;
  }

  private headerProblems({ headers }: Reply, seen: Headers): string[] {
    return [...seen].flatMap(([name, value]) => {
      if (PLAIN_HEADERS.has(name)) return [];
      const documented = headers?.[name];
      if (!documented) return [`the header ${name} is not documented`];
      return this.schemas.problems(documented['schema'] as Schema, value).map((problem) => `${name}${problem}`);
    });
  }

  private bodyProblems({ content }: Reply, { headers, text, status }: SeenReply, isEngines: boolean): string[] {
    const type = (headers.get('content-type') ?? '').split(';', 1)[0]!;
    const media = content?.[type];
    if (!media) return [`a body of type "${type}" is not documented`];
    const schema = media['schema'] as Schema;
    if (type === 'application/json') {
      // What Hindcast says itself is held to what is said of Hindcast's own words.
      const own = status >= 400 && !isEngines ? ((schema['anyOf'] as Schema[] | undefined)?.[0] ?? schema) : schema;
      return this.schemas.problems(own, JSON.parse(text));
    }
    if (type !== 'text/event-stream') return this.schemas.problems(schema, text);
    return eventsOf(text).flatMap((event) => this.schemas.problems(media['x-event'] as Schema, event));
  }
}

/** The data of all events, parsed, without the end mark. */
const eventsOf = (text: string): unknown[] =>
  dataOf(text.replace(/^event: .*\r?\n/gm, ''))
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as unknown);
