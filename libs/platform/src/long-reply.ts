import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { headers, type Msg } from '@nats-io/nats-core';

const ENCODING_HEADER = 'Content-Encoding';
/** Of headers and reply subject. */
const OVERHEAD_BYTES = 1_024;
/** No answer of the ledger is longer when it is unpacked: what comes from the bus is not trusted with all of the memory. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;

const packed = promisify(gzip);
const unpacked = promisify(gunzip);

/** An answer that NATS does not take, packed either. */
export class ReplyTooLarge extends Error {
  constructor(bytes: number, maxPayload: number) {
    super(
      `the answer takes ${bytes} bytes, more than the ${maxPayload} that NATS takes: raise max_payload of the nats-server`,
    );
  }
}

/**
 * Answers a request over core NATS; what is longer than the server takes goes as gzip.
 *
 * @param maxPayload bytes that the server takes
 * @throws ReplyTooLarge
 */
export async function sendReply(message: Msg, json: string, maxPayload: number): Promise<void> {
  if (Buffer.byteLength(json) + OVERHEAD_BYTES <= maxPayload) return void message.respond(json);
  const bytes = await packed(json);
  if (bytes.length + OVERHEAD_BYTES > maxPayload) throw new ReplyTooLarge(bytes.length, maxPayload);
  const encoding = headers();
  encoding.set(ENCODING_HEADER, 'gzip');
  message.respond(bytes, { headers: encoding });
}

/** The JSON of an answer; `undefined` when it cannot be read. */
export async function readReply(message: Msg): Promise<unknown> {
  try {
    if (message.headers?.get(ENCODING_HEADER) !== 'gzip') return message.json();
    return JSON.parse((await unpacked(message.data, { maxOutputLength: MAX_UNPACKED_BYTES })).toString('utf8'));
  } catch {
    return undefined;
  }
}
