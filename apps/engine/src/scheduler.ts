import type { KvCache } from './core/kv-cache';
import { scoreToken, type TokenScore } from './core/token-score';
import type { ForwardPass } from './forward-pass';

/** One row of work: a prompt to read, scores to give for it if wanted, and tokens to generate behind it. */
export interface Job {
  readonly weights: ForwardPass;
  /** At least one token; with `maxTokens` no longer than the model's positions. */
  readonly promptIds: readonly number[];
  /** How many of the most likely tokens to give with the score of each prompt token; null: no prompt scores. */
  readonly promptTop: number | null;
  /** The same for each generated token. */
  readonly top: number;
  /** 0 only reads the prompt. */
  readonly maxTokens: number;
  /** Draws the next token from the log-probabilities of one position. Called once per generated token, in order. */
  readonly sample: (logProbs: Float32Array) => number;
  /** A generated token, as soon as it is there. True ends the job. */
  readonly onToken: (score: TokenScore) => boolean;
  /** The end: all prompt scores (of `promptIds[1..]`), or null when none were wanted. */
  readonly onDone: (promptScores: readonly TokenScore[] | null) => void;
  readonly onError: (error: Error) => void;
}

interface Row {
  readonly job: Job;
  cancelled: boolean;
  /** Prompt tokens read so far. */
  read: number;
  generated: number;
  /** The token sampled last, whose key and value are not in the cache yet. */
  nextId: number;
  readonly promptScores: TokenScore[];
}

/** The rows that share one set of weights: they decode together. */
interface Lane {
  readonly weights: ForwardPass;
  readonly cache: KvCache;
  /** `rows[i]` is row i of the cache. */
  readonly rows: Row[];
}

/** Prompt tokens read between two decoding steps: what a running answer waits at most for a new one. */
const PREFILL_TOKENS = 256;
/** Limits the log-probabilities of one scoring step to 64 MiB, whatever the vocabulary. */
const SCORED_NUMBERS = 16 * 2 ** 20;

/**
 * Continuous batching: a job joins the running batch as soon as its prompt is read and leaves it with its last token. Prompts are read
 * one by one in the order they came, a piece between two decoding steps. Jobs of different weights take turns.
 */
export class Scheduler {
  private readonly waiting: Row[] = [];
  private readonly lanes = new Map<ForwardPass, Lane>();
  private reading: { row: Row; cache: KvCache } | null = null;
  private isTurning = false;

  /** @param maxBatch rows that decode at once, over all weights */
  constructor(private readonly maxBatch: number) {}

  get runningCount(): number {
    let count = this.reading ? 1 : 0;
    for (const { rows } of this.lanes.values()) count += rows.length;
    return count;
  }

  get waitingCount(): number {
    return this.waiting.length;
  }

  /** Cache positions in use, of all rows that decode. */
  get cachedPositions(): number {
    let count = 0;
    for (const { cache } of this.lanes.values()) for (const length of cache.lengths) count += length;
    return count;
  }

  /** Queues a job. The returned function cancels it: nothing of it is called any more, except `onDone(null)`. */
  submit(job: Job): () => void {
    const row: Row = { job, cancelled: false, read: 0, generated: 0, nextId: -1, promptScores: [] };
    this.waiting.push(row);
    void this.turn();
    return () => {
      row.cancelled = true;
    };
  }

  private async turn(): Promise<void> {
    if (this.isTurning) return;
    this.isTurning = true;
    try {
      while (this.waiting.length > 0 || this.reading || this.lanes.size > 0) {
        await this.readStep();
        for (const lane of [...this.lanes.values()]) await this.decodeStep(lane);
      }
    } finally {
      this.isTurning = false;
    }
  }

  /** Reads one piece of the prompt that is next; its last piece gives the first token. */
  private async readStep(): Promise<void> {
    this.reading ??= this.startReading();
    if (!this.reading) return;
    const { row, cache } = this.reading;
    const { job } = row;
    try {
      if (row.cancelled) return this.endReading(row);
      const isScored = job.promptTop !== null;
      const limit = isScored
        ? Math.max(1, Math.min(PREFILL_TOKENS, Math.floor(SCORED_NUMBERS / job.weights.config.vocabSize)))
        : PREFILL_TOKENS;
      const piece = job.promptIds.slice(row.read, row.read + limit);
      const logProbs = await job.weights.run(cache, piece, isScored ? 'all' : 'last');
      const { vocabSize } = job.weights.config;
      if (job.promptTop !== null)
        for (let i = 0; i < piece.length; i++) {
          const id = job.promptIds[row.read + i + 1];
          if (id !== undefined) row.promptScores.push(scoreToken(rowOf(logProbs, i, vocabSize), id, job.promptTop));
        }
      row.read += piece.length;
      if (row.read < job.promptIds.length) return;
      if (row.cancelled || job.maxTokens === 0) return this.endReading(row);
      const isOver = this.take(row, rowOf(logProbs, isScored ? piece.length - 1 : 0, vocabSize));
      if (isOver) return this.endReading(row);
      this.reading = null;
      const lane = this.laneOf(job.weights);
      lane.cache.adopt(cache);
      lane.rows.push(row);
    } catch (error) {
      this.reading = null;
      fail(row, error);
    }
  }

  private startReading(): { row: Row; cache: KvCache } | null {
    if (this.runningCount >= this.maxBatch) return null;
    const row = this.waiting.shift();
    if (!row) return null;
    const cache = row.job.weights.newCache();
    cache.addRow();
    return { row, cache };
  }

  private endReading(row: Row): void {
    this.reading = null;
    finish(row);
  }

  /** One token for every row of a lane. */
  private async decodeStep(lane: Lane): Promise<void> {
    for (let i = lane.rows.length - 1; i >= 0; i--) {
      const row = lane.rows[i]!;
      if (row.cancelled) this.leave(lane, i, () => finish(row));
    }
    if (lane.rows.length === 0) return;
    const { vocabSize } = lane.weights.config;
    let logProbs: Float32Array;
    try {
      const ids = lane.rows.map((row) => row.nextId);
      logProbs = await lane.weights.run(lane.cache, ids, 'last');
    } catch (error) {
      this.lanes.delete(lane.weights);
      for (const row of lane.rows) fail(row, error);
      return;
    }
    // From the last row down, because the last row takes the place of one that leaves.
    for (let i = lane.rows.length - 1; i >= 0; i--) {
      const row = lane.rows[i]!;
      if (row.cancelled) continue;
      try {
        if (this.take(row, rowOf(logProbs, i, vocabSize))) this.leave(lane, i, () => finish(row));
      } catch (error) {
        this.leave(lane, i, () => fail(row, error));
      }
    }
  }

  /** Samples one token of a row and hands it out; true when it was the last. */
  private take(row: Row, logProbs: Float32Array): boolean {
    const { job } = row;
    row.nextId = job.sample(logProbs);
    row.generated++;
    return job.onToken(scoreToken(logProbs, row.nextId, job.top)) || row.generated >= job.maxTokens;
  }

  private laneOf(weights: ForwardPass): Lane {
    let lane = this.lanes.get(weights);
    if (!lane) this.lanes.set(weights, (lane = { weights, cache: weights.newCache(), rows: [] }));
    return lane;
  }

  private leave(lane: Lane, index: number, then: () => void): void {
    lane.cache.removeRow(index);
    const last = lane.rows.pop()!;
    if (index < lane.rows.length) lane.rows[index] = last;
    if (lane.rows.length === 0) this.lanes.delete(lane.weights);
    then();
  }
}

/** A view, valid until the next step. */
function rowOf(logProbs: Float32Array, row: number, vocabSize: number): Float32Array {
  return logProbs.subarray(row * vocabSize, (row + 1) * vocabSize);
}

function finish({ job, promptScores, cancelled }: Row): void {
  job.onDone(job.promptTop === null || cancelled ? null : promptScores);
}

function fail({ job }: Row, error: unknown): void {
  job.onError(error instanceof Error ? error : new Error(String(error)));
}
