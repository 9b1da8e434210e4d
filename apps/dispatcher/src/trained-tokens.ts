import { Injectable } from '@nestjs/common';
import type { EncodedArray, TrainedSample } from '@hindcast/contracts';
import { Database, type Statement } from './database';

/** Samples of one statement. */
const BATCH = 64;

interface Waiting {
  readonly turnId: string;
  readonly sample: TrainedSample;
  readonly resolve: (isNews: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** A turn that was forgotten has no response any more, and nothing is to come back of it. */
const STORE: Statement = {
  name: 'store-trained-tokens',
  text: `INSERT INTO trained_tokens
      ("turnId", version, advantages, "oldLogProbs", "newLogProbs", "clipEpsilonLow", "clipEpsilonHigh")
    SELECT "turnId", version, decode(advantages, 'base64'), decode("oldLogProbs", 'base64'), decode("newLogProbs", 'base64'),
      "clipEpsilonLow", "clipEpsilonHigh"
    FROM json_to_recordset($1::json) AS new("turnId" text, version int, advantages text, "oldLogProbs" text,
      "newLogProbs" text, "clipEpsilonLow" float8, "clipEpsilonHigh" float8)
    WHERE EXISTS (SELECT FROM turns WHERE id = "turnId" AND "responseId" IS NOT NULL)
    ON CONFLICT DO NOTHING RETURNING "turnId"`,
};
const READ: Statement = { name: 'read-trained-tokens', text: 'SELECT * FROM trained_tokens WHERE "turnId" = $1' };

interface Row extends Pick<TrainedSample, 'version' | 'clipEpsilonLow' | 'clipEpsilonHigh'> {
  readonly advantages: Buffer;
  readonly oldLogProbs: Buffer;
  readonly newLogProbs: Buffer | null;
}

/** What steps made of the sampled tokens. The samples of a step come together, and are stored together. */
@Injectable()
export class TrainedTokens {
  private queue: Waiting[] = [];
  private isWriting = false;

  constructor(private readonly database: Database) {}

  /**
   * @returns whether it is news, and the turn one that is known and not forgotten
   * @throws DependencyUnavailable when the database is away
   */
  store(turnId: string, sample: TrainedSample): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.queue.push({ turnId, sample, resolve, reject });
      if (this.isWriting) return;
      this.isWriting = true;
      // What the same turn of the event loop still brings goes along.
      setImmediate(() => void this.write());
    });
  }

  /** `null` when nothing is kept of the turn. */
  async read(turnId: string): Promise<TrainedSample | null> {
    const [row] = await this.database.sql<Row>(READ, [turnId]);
    if (!row) return null;
    const { version, clipEpsilonLow, clipEpsilonHigh, advantages, oldLogProbs, newLogProbs } = row;
    return {
      version,
      advantages: encoded(advantages),
      oldLogProbs: encoded(oldLogProbs),
      newLogProbs: newLogProbs && encoded(newLogProbs),
      clipEpsilonLow,
      clipEpsilonHigh,
    };
  }

  private async write(): Promise<void> {
    while (this.queue.length > 0) {
      const batch = this.queue.splice(0, BATCH);
      try {
        const stored = await this.database.sql<{ turnId: string }>(STORE, [JSON.stringify(batch.map(rowOf))]);
        const news = new Set(stored.map((row) => row.turnId));
        for (const { turnId, resolve } of batch) resolve(news.delete(turnId));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.isWriting = false;
  }
}

const rowOf = ({ turnId, sample }: Waiting) => ({
  turnId,
  version: sample.version,
  advantages: sample.advantages.base64,
  oldLogProbs: sample.oldLogProbs.base64,
  newLogProbs: sample.newLogProbs?.base64 ?? null,
  clipEpsilonLow: sample.clipEpsilonLow,
  clipEpsilonHigh: sample.clipEpsilonHigh,
});

const encoded = (bytes: Buffer): EncodedArray => ({
  dtype: 'float32',
  length: bytes.length / 4,
  base64: bytes.toString('base64'),
});
