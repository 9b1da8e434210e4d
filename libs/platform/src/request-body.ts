import type { IncomingMessage } from 'node:http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { errorCodes, type FastifyRequest } from 'fastify';
import { checkDepth } from './body-depth';
import { checkValues } from './body-values';
import { GatheredBytes } from './gathered-bytes';
import { RequestMemory } from './request-memory';

const memory = Symbol('memory');

interface WithBytes {
  /** The bytes that the body was parsed from. */
  rawBody?: Buffer;
  [memory]?: RequestMemory;
}

type Done = (error: Error | null, body?: unknown) => void;
type Read = (request: FastifyRequest, payload: IncomingMessage, done: Done) => void;

/** How each server reads bodies. */
const readers = new WeakMap<object, Read>();

/**
 * Bodies are JSON. A member named `__proto__` or `constructor` is one like any other: a tool's schema may have it. `JSON.parse` makes
 * it the object's own, and so does every copy by spreading; nobody may copy a body's members by assigning them one by one.
 */
export function readJson(
  app: NestFastifyApplication,
  bodyLimit: number,
  readLong: (bytes: Buffer, memory: RequestMemory) => unknown,
): void {
  const server = app.getHttpAdapter().getInstance();
  const parser: unknown = server.getDefaultJsonParser('ignore', 'ignore');
  // Declared for texts; it reads buffers as well.
  const parse = parser as (request: unknown, json: Buffer, done: Done) => void;
  const read: Read = (request, payload, done) => {
    gather(request, payload, bodyLimit, (error, bytes) => {
      if (error) return done(error);
      try {
        checkValues(bytes);
      } catch (error) {
        return done(error as Error);
      }
      const parsed = readLong(bytes, bodyMemory(request));
      if (parsed === undefined) parse(request, bytes, done);
      else done(null, parsed);
    });
  };
  readers.set(server, read);
  // Known to the server from the start.
  server.removeContentTypeParser('application/json');
  server.addContentTypeParser('application/json', read);
}

/** Whether the body is what clients of an API send: JSON, some of it, and said so. */
export function announcesJson({ headers }: FastifyRequest): boolean {
  const { 'content-type': type, 'content-length': length } = headers;
  return (type === 'application/json' || type?.startsWith('application/json;') === true) && Number(length) > 0;
}

/**
 * Reads a body before the server does: of what that puts around its parsers a request would be a tenth longer under way. What is wrong
 * with the body is what the server would find.
 *
 * @param done gets what the body was parsed to, or an error for `reply.send`
 */
export function readBody(request: FastifyRequest, done: (error: Error | null, body?: unknown) => void): void {
  readers.get(request.server)!(request, request.raw, (error, body) => {
    try {
      if (!error) checkDepth(body);
    } catch (tooDeep) {
      return done(tooDeep as Error);
    }
    if (!error) request.body = body;
    done(error, body);
  });
}

/** The bytes that a request's body was parsed from. */
export const rawBodyOf = (request: FastifyRequest): Buffer | undefined => (request as WithBytes).rawBody;

/** The memory that holds those bytes and what was made of them. Who gives it back knows that nobody reads the body any more. */
export const bodyMemory = (request: FastifyRequest): RequestMemory =>
  ((request as WithBytes)[memory] ??= new RequestMemory());

function hold(request: WithBytes, bytes: Buffer, body: GatheredBytes): void {
  request.rawBody = bytes;
  request[memory] = new RequestMemory();
  request[memory].add({
    giveBack: () => {
      delete request.rawBody;
      body.giveBack();
    },
  });
}

/** As Fastify gathers a body, but that its pieces are not kept until all have come. */
function gather(
  request: FastifyRequest,
  payload: IncomingMessage,
  limit: number,
  done: (error: Error | null, bytes: Buffer) => void,
): void {
  const expected = Number(request.headers['content-length']);
  const body = new GatheredBytes(expected || 0);
  const over = (error: Error | null): void => {
    payload.off('data', add).off('end', end).off('error', fail);
    const { bytes } = body;
    if (error) body.giveBack();
    else hold(request as WithBytes, bytes, body);
    done(error, bytes);
  };
  const add = (piece: Buffer): void => {
    if (body.length + piece.length > limit) return over(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
    body.add(piece);
  };
  const end = (): void => {
    const isWhole = Number.isNaN(expected) || body.length === expected;
    over(isWhole ? null : new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH());
  };
  const fail = (error: Error): void => over(Object.assign(error, { statusCode: 400 }));
  if (expected > limit) return over(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
  payload.on('data', add).on('end', end).on('error', fail);
}
