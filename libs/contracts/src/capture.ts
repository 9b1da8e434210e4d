import { z } from 'zod';
import { readNewer } from './newer';
import { PolicyVersion, SessionId, Tenant, Timestamp, TurnId } from './primitives';
import { isHeaderWithoutMessages } from './quick-check';
import { assertIds, assertLogProbs } from './typed-array';

/** How the answer was sampled; what the engine's log-probs refer to follows from it. */
export const Sampling = z.strictObject({
  temperature: z.number().nonnegative(),
  topP: z.number().positive().max(1),
  topK: z.int().nullable(),
  minP: z.number().nullable(),
  presencePenalty: z.number(),
  frequencyPenalty: z.number(),
  repetitionPenalty: z.number().nullable(),
  seed: z.int().nullable(),
});
export type Sampling = z.infer<typeof Sampling>;

/** Everything about a captured answer that is not a token array. */
export const CaptureHeader = z.strictObject({
  turnId: TurnId,
  tenant: Tenant,
  sessionId: SessionId,
  responseId: z.string().min(1),
  /** Model name that was sent to the engine (an adapter name or the base model). */
  model: z.string().min(1),
  policyVersion: PolicyVersion,
  dialect: z.enum(['vllm', 'sglang', 'openai']),
  /** The request's messages exactly as the client sent them. */
  messages: z.array(z.record(z.string(), z.unknown())).min(1),
  tools: z.array(z.unknown()).nullable(),
  /** Arguments of the chat template the client gave (`chat_template_kwargs`). */
  templateArguments: z.record(z.string(), z.unknown()).nullable(),
  /** The assistant message of the answer as the client received it. */
  answer: z.record(z.string(), z.unknown()),
  sampling: Sampling,
  finishReason: z.string(),
  at: Timestamp,
});
export type CaptureHeader = z.infer<typeof CaptureHeader>;

/**
 * One captured answer: the exact ids that the engine was prompted with and sampled, and the engine's log-probs of the latter.
 *
 * `promptIds` `[P]` int32 · `responseIds` `[R]` int32 · `rolloutLogProbs` `[R]` float32, nats.
 */
export interface Capture {
  readonly header: CaptureHeader;
  readonly promptIds: Int32Array;
  readonly responseIds: Int32Array;
  readonly rolloutLogProbs: Float32Array;
}

const MAGIC = 0x31434348; // "HCC1", little-endian

/**
 * Binary form of a capture (the value in KV `captures`):
 * magic u32 · header bytes u32 · P u32 · R u32 · header JSON padded to 4 bytes · promptIds · responseIds · rolloutLogProbs.
 *
 * @param messages the header's messages as JSON in UTF-8, where somebody has that already: it is stored as it is
 * @param memory gives so many bytes for the value, aligned to 4
 */
export function encodeCapture(
  capture: Capture,
  messages: Uint8Array | null = null,
  memory: (bytes: number) => Buffer = ownMemory,
): Uint8Array {
  assertCapture(capture);
  const header = headerJson(capture.header, messages);
  const headerBytes = header.reduce((sum, piece) => sum + piece.length, 0);
  const padded = Math.ceil(headerBytes / 4) * 4;
  const { promptIds, responseIds, rolloutLogProbs } = capture;
  // Written to the last byte.
  const bytes = memory(16 + padded + 4 * (promptIds.length + 2 * responseIds.length));
  new Uint32Array(bytes.buffer, bytes.byteOffset, 4).set([MAGIC, headerBytes, promptIds.length, responseIds.length]);
  let filled = 16;
  for (const piece of header) {
    bytes.set(piece, filled);
    filled += piece.length;
  }
  bytes.fill(0, filled, 16 + padded);
  const offset = bytes.byteOffset + 16 + padded;
  new Int32Array(bytes.buffer, offset, promptIds.length).set(promptIds);
  new Int32Array(bytes.buffer, offset + 4 * promptIds.length, responseIds.length).set(responseIds);
  new Float32Array(bytes.buffer, offset + 4 * (promptIds.length + responseIds.length), responseIds.length).set(
    rolloutLogProbs,
  );
  return bytes;
}

/** Never of the shared pool: who decodes it may count on its alignment. */
const ownMemory = (bytes: number): Buffer => Buffer.allocUnsafeSlow(bytes);

const HeaderWithoutMessages = CaptureHeader.omit({ messages: true });

/** The header in pieces: its messages may be most of the capture, and are copied once. Those that somebody wrote are not read. */
function headerJson({ messages, ...others }: CaptureHeader, written: Uint8Array | null): readonly Uint8Array[] {
  const json = written ?? Buffer.from(JSON.stringify(CaptureHeader.shape.messages.parse(messages)));
  const rest = isHeaderWithoutMessages(others) ? others : HeaderWithoutMessages.parse(others);
  return [Buffer.from('{"messages":'), json, Buffer.from(`,${JSON.stringify(rest).slice(1)}`)];
}

/** @throws RangeError when the bytes are not a capture, are cut, or hold a value that no capture may hold. */
export function decodeCapture(value: Uint8Array): Capture {
  // A copy at offset 0: typed-array views need aligned bytes, and a Buffer's slice() is a view into a shared pool.
  const bytes = new Uint8Array(value);
  if (bytes.byteLength < 16) throw new RangeError(`a capture has at least 16 bytes, got ${bytes.byteLength}`);
  const [magic, headerBytes, promptLength, responseLength] = new Uint32Array(bytes.buffer, 0, 4) as unknown as [
    number,
    number,
    number,
    number,
  ];
  if (magic !== MAGIC) throw new RangeError('not a capture: wrong magic number');
  const offset = 16 + Math.ceil(headerBytes / 4) * 4;
  const expected = offset + 4 * (promptLength + 2 * responseLength);
  if (bytes.byteLength !== expected) throw new RangeError(`capture claims ${expected} bytes, got ${bytes.byteLength}`);
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(16, 16 + headerBytes)));
  } catch (cause) {
    throw new RangeError('capture header is not JSON', { cause });
  }
  const parsed = readNewer(CaptureHeader, header);
  if (!parsed.success) throw new RangeError(`capture header: ${z.prettifyError(parsed.error)}`);
  const capture: Capture = {
    header: parsed.data,
    promptIds: new Int32Array(bytes.buffer, offset, promptLength),
    responseIds: new Int32Array(bytes.buffer, offset + 4 * promptLength, responseLength),
    rolloutLogProbs: new Float32Array(bytes.buffer, offset + 4 * (promptLength + responseLength), responseLength),
  };
  assertCapture(capture);
  return capture;
}

function assertCapture({ promptIds, responseIds, rolloutLogProbs }: Capture): void {
  if (promptIds.length === 0) throw new RangeError('a capture has at least one prompt id');
  if (responseIds.length === 0) throw new RangeError('a capture has at least one sampled id');
  if (responseIds.length !== rolloutLogProbs.length) {
    throw new RangeError(`${responseIds.length} sampled ids but ${rolloutLogProbs.length} log-probs`);
  }
  assertIds(promptIds);
  assertIds(responseIds);
  assertLogProbs(rolloutLogProbs);
}
