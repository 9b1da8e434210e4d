import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { CONFIG, Log } from '@hindcast/platform';
import type { DispatcherConfig } from './config';
import { Database, type Statement } from './database';
import { DeadLetterDesk } from './dead-letter-desk';
import { Loop } from './loop';

const CLEAN_MS = 60_000;
const DAY_MS = 86_400_000;
/** Rows deleted at once, so that no statement takes long. */
const BATCH = 500;

/** A sample that is still to be sent may be made from its recording. */
const DELETE_OLD: readonly Statement[] = [
  {
    name: 'delete-old-recordings',
    text: `DELETE FROM recordings WHERE "turnId" IN (
      SELECT "turnId" FROM recordings WHERE "decidedAt" < $1
        AND NOT EXISTS (SELECT FROM outbox WHERE outbox."turnId" = recordings."turnId" AND "sentAt" IS NULL)
      ORDER BY "decidedAt" LIMIT $2
    ) RETURNING "turnId"`,
  },
  ...['turn_texts', 'trained_tokens'].map((table) => ({
    name: `delete-old-${table}`,
    text: `DELETE FROM ${table} WHERE "turnId" IN (
      SELECT "turnId" FROM ${table} WHERE "storedAt" < $1 ORDER BY "storedAt" LIMIT $2
    ) RETURNING "turnId"`,
  })),
];

/** Deletes recordings, texts and trained tokens that are older than `RECORD_RETENTION_DAYS`, and settles letters that are gone. */
@Injectable()
export class RecordKeeper implements OnModuleDestroy {
  private readonly loop: Loop;

  constructor(
    @Inject(CONFIG) private readonly config: DispatcherConfig,
    private readonly database: Database,
    private readonly desk: DeadLetterDesk,
    private readonly log: Log,
  ) {
    this.loop = new Loop(CLEAN_MS, () => this.clean());
  }

  start(): void {
    this.loop.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.loop.stop();
  }

  private async clean(): Promise<void> {
    try {
      const before = new Date(Date.now() - this.config.RECORD_RETENTION_DAYS * DAY_MS);
      for (const statement of DELETE_OLD) {
        const deleted = await this.database.sql(statement, [before, BATCH]);
        if (deleted.length > 0) this.log.info('recordings.deleted', { of: statement.name, count: deleted.length });
        if (deleted.length === BATCH) this.loop.wake();
      }
      await this.desk.sweep();
    } catch (error) {
      this.log.warn('recordings.waiting', { error });
    }
  }
}
