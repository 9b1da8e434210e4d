import type { Socket } from 'node:net';
import type { NatsConnection } from '@nats-io/transport-node';

/** What this needs of the client's transport; it is not part of its public interface. */
interface Transport {
  socket?: Socket;
  send(frame: Uint8Array): void;
  _send?: (this: Transport, frame: Uint8Array) => Promise<void>;
}

/** What the client has to say and has not handed to its transport yet. */
interface Protocol {
  readonly outbound?: { readonly buffers?: Uint8Array[]; byteLength?: number };
  readonly transport?: Transport;
  readonly infoReceived?: boolean;
  readonly connected?: boolean;
  flushPending?: (this: Protocol) => void;
}

/** A longer payload is not copied. */
const LONG_BYTES = 64 * 1024;

const gathered = new WeakSet<object>();

/**
 * Lets all that one turn of the event loop says to NATS leave in one system call.
 *
 * The client writes to its socket after every microtask in which something was published: an acknowledgement, a request and a message of
 * the same turn are three calls, each of which wakes the server. A client whose inside looks different keeps writing as it does.
 */
export function gatherWrites(connection: NatsConnection): void {
  const { protocol } = connection as unknown as { protocol?: Protocol };
  const transport = protocol?.transport;
  if (!protocol || !transport) return;
  const prototype = Object.getPrototypeOf(transport) as Transport;
  const send = prototype._send;
  if (typeof send !== 'function') return;
  leaveLongUncopied(protocol);
  if (gathered.has(prototype)) return;
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

/**
 * The client makes one piece of all that it has to say. Long payloads are handed to the socket as they are, in their place: whoever
 * published them leaves them as they are from then on.
 */
function leaveLongUncopied(protocol: Protocol): void {
  const { flushPending } = protocol;
  if (typeof flushPending !== 'function') return;
  protocol.flushPending = function () {
    const { outbound, transport } = this;
    const waiting = outbound?.buffers;
    const isKnown = outbound && Array.isArray(waiting) && typeof outbound.byteLength === 'number' && transport;
    if (!isKnown || !this.infoReceived || !this.connected || !waiting.some(isLong)) return flushPending.call(this);
    outbound.byteLength = 0;
    let short: Uint8Array[] = [];
    const sendShort = (): void => {
      if (short.length > 0) transport.send(Buffer.concat(short));
      short = [];
    };
    for (const piece of waiting.splice(0)) {
      if (!isLong(piece)) short.push(piece);
      else {
        sendShort();
        transport.send(piece);
      }
    }
    sendShort();
  };
}

const isLong = ({ length }: Uint8Array): boolean => length >= LONG_BYTES;
