import type { Socket } from 'node:net';
import type { NatsConnection } from '@nats-io/transport-node';

/** What this needs of the client's transport; it is not part of its public interface. */
interface Transport {
  socket?: Socket;
  _send?: (this: Transport, frame: Uint8Array) => Promise<void>;
}

const gathered = new WeakSet<object>();

/**
 * Lets all that one turn of the event loop says to NATS leave in one system call.
 *
 * The client writes to its socket after every microtask in which something was published: an acknowledgement, a request and a message of
 * the same turn are three calls, each of which wakes the server. A client whose inside looks different keeps writing as it does.
 */
export function gatherWrites(connection: NatsConnection): void {
  const { protocol } = connection as unknown as { protocol?: { transport?: Transport } };
  const transport = protocol?.transport;
  if (!transport) return;
  const prototype = Object.getPrototypeOf(transport) as Transport;
  const send = prototype._send;
  if (typeof send !== 'function' || gathered.has(prototype)) return;
  gathered.add(prototype);
  prototype._send = function (frame) {
    const { socket } = this;
    if (socket && socket.writableCorked === 0) {
      socket.cork();
      setImmediate(() => socket.uncork());
    }
    return send.call(this, frame);
  };
}
