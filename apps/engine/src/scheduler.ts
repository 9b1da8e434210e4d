import type { KvCache } from './core/kv-cache';
import { scoreToken, type TokenScore } from './core/token-score';
import type { ForwardPass, Reading } from './forward-pass';

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
 * Continuous batching: a job joins the running batch as soon as its prompt is read and leaves it with its last token. Between two
 * decoding steps, prompts are read in the order they came: as many whole ones as fit, in one run, or a piece of a long one. Jobs of
 * different weights take turns.
 */
export class Scheduler {
  private readonly waiting: Row[] = [];
  private readonly lanes = new Map<ForwardPass, Lane>();
  /** Rows whose prompts are being read in one run. */
  private reading: readonly Row[] = [];
  /** The long prompt that is read in pieces, with what was read of it. */
  private long: { row: Row; cache: KvCache } | null = null;
  private isTurning = false;

  /** @param maxBatch rows that decode at once, over all weights */
  constructor(private readonly maxBatch: number) {}

  get runningCount(): number {
    let count = this.reading.length + (this.long ? 1 : 0);
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
      while (this.waiting.length > 0 || this.long || this.lanes.size > 0) {
        await this.readStep();
        for (const lane of [...this.lanes.values()]) await this.decodeStep(lane);
      }
    } finally {
      this.isTurning = false;
    }
  }

  private async readStep(): Promise<void> {
    if (!this.long) {
      this.reading = this.nextToRead();
      const [first] = this.reading;
      if (!first) return;
      if (first.job.promptIds.length <= pieceLimit(first.job)) {
        await this.readTogether(this.reading);
        this.reading = [];
        return;
      }
      this.long = { row: first, cache: first.job.weights.newCache() };
      this.reading = [];
      this.long.cache.addRow();
    }
    await this.readPiece(this.long);
  }

  /** Takes the prompts of the next run from the queue: of one set of weights, and together no longer than a piece. */
  private nextToRead(): Row[] {
    const rows: Row[] = [];
    let tokens = 0;
    let picked = 0;
    while (this.waiting.length > 0) {
      const row = this.waiting[0]!;
      const { weights, promptIds } = row.job;
      if (row.cancelled) {
        this.waiting.shift();
        finish(row);
        continue;
      }
      tokens += promptIds.length;
      picked += isScored(row.job) ? promptIds.length : 1;
      const fits = tokens <= PREFILL_TOKENS && picked * weights.config.vocabSize <= SCORED_NUMBERS;
      const joins = rows.length === 0 || (fits && weights === rows[0]!.job.weights);
      if (!joins || this.runningCount + rows.length >= this.maxBatch) break;
      rows.push(row);
      this.waiting.shift();
      if (!fits) break;
    }
    return rows;
  }

  /** Reads whole prompts in one run; each gets its first token and joins its lane. */
  private async readTogether(rows: readonly Row[]): Promise<void> {
    const { weights } = rows[0]!.job;
    let reading: Reading;
    try {
      reading = await weights.read(
        rows.map(({ job }) => ({ ids: job.promptIds, picked: isScored(job) ? 'all' : 'last' })),
      );
    } catch (error) {
      // Whichever of them the model cannot run, the others have nothing to do with it.
      if (rows.length > 1) for (const row of rows) await this.readTogether([row]);
      else fail(rows[0]!, error);
      return;
    }
    rows.forEach((row, i) => {
      row.read = row.job.promptIds.length;
      this.begin(row, reading.logProbs[i]!, row.read, (cache) => reading.keep(i, cache));
    });
  }

  /** Reads the next piece of a long prompt; its last piece gives the first token. */
  private async readPiece({ row, cache }: { row: Row; cache: KvCache }): Promise<void> {
    const { job } = row;
    if (row.cancelled) {
      this.long = null;
      return finish(row);
    }
    const piece = job.promptIds.slice(row.read, row.read + pieceLimit(job));
    let logProbs: Float32Array;
    try {
      logProbs = await job.weights.run(cache, piece, isScored(job) ? 'all' : 'last');
    } catch (error) {
      this.long = null;
      return fail(row, error);
    }
    row.read += piece.length;
    if (row.read >= job.promptIds.length) this.long = null;
    this.begin(row, logProbs, piece.length, (lane) => void lane.adopt(cache));
  }

  /** Scores the prompt tokens just read, and once the prompt is read takes the first token and lets the row join its lane. */
  private begin(row: Row, logProbs: Float32Array, count: number, keep: (lane: KvCache) => void): void {
    const { job } = row;
    const { vocabSize } = job.weights.config;
    try {
      if (job.promptTop !== null)
        for (let i = 0; i < count; i++) {
          const id = job.promptIds[row.read - count + i + 1];
          if (id !== undefined) row.promptScores.push(scoreToken(rowOf(logProbs, i, vocabSize), id, job.promptTop));
        }
      if (row.read < job.promptIds.length) return;
      const last = rowOf(logProbs, isScored(job) ? count - 1 : 0, vocabSize);
      if (row.cancelled || job.maxTokens === 0 || this.take(row, last)) return finish(row);
    } catch (error) {
      if (this.long?.row === row) this.long = null;
      return fail(row, error);
    }
    const lane = this.laneOf(job.weights);
    keep(lane.cache);
    lane.rows.push(row);
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

function isScored({ promptTop }: Job): boolean {
  return promptTop !== null;
}

/** Tokens of a prompt that one run reads at most. */
function pieceLimit(job: Job): number {
  if (!isScored(job)) return PREFILL_TOKENS;
  return Math.max(1, Math.min(PREFILL_TOKENS, Math.floor(SCORED_NUMBERS / job.weights.config.vocabSize)));
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
