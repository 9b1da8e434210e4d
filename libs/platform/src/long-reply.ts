import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { headers, type Msg } from '@nats-io/nats-core';

const ENCODING_HEADER = 'Content-Encoding';
/** More than headers and reply subject take. */
const OVERHEAD_BYTES = 1_024;
/** What is longer when it is unpacked is no answer of the ledger: nothing that comes from the bus may take all of the memory. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;

const packed = promisify(gzip);
const unpacked = promisify(gunzip);

/** NATS does not take the answer, not even packed. */
export class ReplyTooLarge extends Error {
  constructor(bytes: number, maxPayload: number) {
    super(
      `the answer takes ${bytes} bytes, more than the ${maxPayload} that NATS takes: raise max_payload of the nats-server`,
    );
  }
}

/**
 * Answers a request over core NATS, as JSON; what is longer than the server takes goes as gzip.
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
