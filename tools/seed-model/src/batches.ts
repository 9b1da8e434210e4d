import { conversation, earlyWordings, random } from '@hindcast/seed-world';
import type { DocumentEncoder, EncodedDocument } from './encoded-document';

/** Rows of equal length that a step reads. All arrays are row-major `[rows, length]`. */
export interface Batch {
  readonly rows: number;
  readonly length: number;
  readonly tokenIds: Int32Array;
  /** The token that follows each position. */
  readonly targetIds: Int32Array;
  /** 1 where the target is learned, 0 for what others say and for padding. */
  readonly lossMask: Float32Array;
  /** Tokens of the documents, padding not counted. */
  readonly tokens: number;
}

/** Row lengths that documents are padded to. Few, because the step is compiled once for each; close, to pad little. */
export const rowLengths = [24, 32, 40, 52, 64, 80, 100, 128, 160, 208, 256, 336, 448] as const;

/** How many positions a batch has at most. */
const positionsOfBatch = 1300;

/**
 * The batches of one worker, for ever. The stream is fixed by its seed: skipping what was already used resumes it.
 * Every document is used: it waits until there are enough of its length for a batch.
 * @param earlyTokens before so many tokens, hints come in fewer wordings
 */
export function* batches(encoder: DocumentEncoder, seed: string, earlyTokens: number): Generator<Batch, never> {
  const rng = random(seed);
  const waiting = new Map<number, EncodedDocument[]>();
  let drawn = 0;
  for (;;) {
    const document = encoder.encode(conversation(rng, drawn < earlyTokens ? earlyWordings : Infinity));
    drawn += document.tokenIds.length;
    const inputs = document.tokenIds.length - 1; // the last token is only ever a target
    const length = rowLengths.find((candidate) => candidate >= inputs);
    if (length === undefined) throw new RangeError(`a conversation of ${document.tokenIds.length} tokens is too long`);
    const rows = waiting.get(length) ?? [];
    waiting.set(length, rows);
    rows.push(document);
    if (rows.length === Math.floor(positionsOfBatch / length)) yield toBatch(rows.splice(0), length);
  }
}

function toBatch(documents: readonly EncodedDocument[], length: number): Batch {
  const rows = documents.length;
  const tokenIds = new Int32Array(rows * length);
  const targetIds = new Int32Array(rows * length);
  const lossMask = new Float32Array(rows * length);
  documents.forEach((document, row) => {
    tokenIds.set(document.tokenIds.slice(0, -1), row * length);
    targetIds.set(document.tokenIds.slice(1), row * length);
    lossMask.set(document.lossMask.slice(1), row * length);
  });
  const tokens = documents.reduce((sum, document) => sum + document.tokenIds.length, 0);
  return { rows, length, tokenIds, targetIds, lossMask, tokens };
}
