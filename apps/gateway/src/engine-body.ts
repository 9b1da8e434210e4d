import { HindcastError } from '@hindcast/contracts';

/** As much as one event of a stream may have. An answer with the ids and log-probs of 100,000 tokens has about a tenth. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/**
 * An engine's whole body. Of one that is larger no more is read.
 *
 * @throws HindcastError `engine-invalid-response` when it is larger; what the connection throws
 */
export async function readEngineBody(body: AsyncIterable<Buffer>, maxBytes = MAX_BODY_BYTES): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop closes the connection.
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > maxBytes)
      throw new HindcastError('engine-invalid-response', `the engine's answer has more than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, bytes);
}
