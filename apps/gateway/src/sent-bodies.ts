import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/** Bodies that are to be told of. */
const leaving = new WeakMap<object, () => void>();

/**
 * Calls back once the system has all of a request's body, on a connection of `sendingConnector`: from then on nobody here reads its
 * bytes. Never of a body whose connection broke before. An answer says nothing of it: an engine may give one to what it has not read.
 */
export function whenSent(body: Buffer, listener: () => void): void {
  leaving.set(body, listener);
}

/** Connects as undici does by itself. */
export function sendingConnector(timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) callback(error, null);
      else callback(null, telling(socket));
    });
}

type Write = (chunk: unknown, ...others: unknown[]) => boolean;

function telling<S extends Socket>(socket: S): S {
  const write = socket.write.bind(socket) as Write;
  const writeAndTell: Write = (chunk, ...others) => {
    const listener = typeof chunk === 'object' && chunk !== null ? leaving.get(chunk) : undefined;
    if (!listener) return write(chunk, ...others);
    leaving.delete(chunk as object);
    return write(chunk, (error?: Error | null) => {
      // A write that ends with its connection tells no error.
      if (!error && !socket.destroyed) listener();
    });
  };
  return Object.assign(socket, { write: writeAndTell });
}
