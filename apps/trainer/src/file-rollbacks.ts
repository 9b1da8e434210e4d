import { HindcastError, type RollbackAnswer, type RollbackWish } from '@hindcast/contracts';
import type { Log } from '@hindcast/platform';
import { readRollbackRequest, removeRollbackRequest, writeRollbackOutcome } from './rollback-request';
import type { RollbackSource } from './rollback-source';

/** `POLICY_DIR/rollback.json`, which `npm run policy -- rollback` writes. */
export class FileRollbacks implements RollbackSource {
  constructor(
    private readonly folder: string,
    private readonly log: Log,
  ) {}

  /** A request that cannot be read says nothing, and is not to keep the trainer from its work. */
  async wish(): Promise<RollbackWish | null> {
    try {
      return await readRollbackRequest(this.folder);
    } catch (error) {
      if (!(error instanceof HindcastError)) throw error;
      this.log.error('rollback.unreadable', { error });
      await removeRollbackRequest(this.folder);
      return null;
    }
  }

  async answer(answer: RollbackAnswer): Promise<void> {
    await writeRollbackOutcome(this.folder, { v: 1, ...answer });
    if (answer.state !== 'failed') await removeRollbackRequest(this.folder);
  }
}
