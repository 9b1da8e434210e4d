import { HindcastError } from '@hindcast/contracts';
import { EngineBody } from './engine-exchange';

/** As much as one event of a stream may have. An answer with the ids and log-probs of 100,000 tokens has about a tenth. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/**
 * An engine's whole body. Of one that is larger no more is read.
 *
 * @throws HindcastError `engine-invalid-response` when it is larger; what the connection throws
 */
export async function readEngineBody(body: AsyncIterable<Buffer>, maxBytes = MAX_BODY_BYTES): Promise<Buffer> {
  const whole = await (body instanceof EngineBody ? body.whole(maxBytes) : wholeOf(body, maxBytes));
  if (whole === null)
    throw new HindcastError('engine-invalid-response', `the engine's answer has more than ${maxBytes} bytes`);
  return whole;
}

async function wholeOf(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop closes the connection.
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > maxBytes) return null;
    pieces.push(piece);
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, bytes);
}
