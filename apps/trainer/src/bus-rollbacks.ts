import { join } from 'node:path';
import { HindcastError, RollbackAnswer, type RollbackWish } from '@hindcast/contracts';
import { writeAtomically } from '@hindcast/language-model';
import type { Log, Nats } from '@hindcast/platform';
import { readJsonIfPresent } from './durable-file';
import type { PolicyBoard } from './policy-board';
import type { RollbackSource } from './rollback-source';

/** What became of the last wish over the bus, kept by the trainer itself: the broker may be away when it is to be told. */
const ANSWER = 'rollback-answer.json';

export interface BusRollbacksParts {
  readonly folder: string;
  readonly board: Pick<PolicyBoard, 'rollbackWish' | 'rollbackAnswer' | 'answerRollback'>;
  readonly nats: Pick<Nats, 'connected'>;
  readonly log: Log;
}

/**
 * KV `policy`, keys `rollback-request` and `rollback-outcome`. The wish stays where it is; what keeps it from being done twice is its id, on
 * the disk before it is on the bus.
 */
export class BusRollbacks implements RollbackSource {
  private settled: string | null = null;

  constructor(private readonly parts: BusRollbacksParts) {}

  async wish(): Promise<RollbackWish | null> {
    const { board, nats } = this.parts;
    if (!nats.connected) return null;
    const wish = await board.rollbackWish();
    if (wish === null || wish.id === this.settled) return null;
    const told = await board.rollbackAnswer();
    const known = [await this.kept(), told].find((answer) => answer?.id === wish.id && answer.state !== 'failed');
    if (!known) return wish;
    if (!isSame(told, known)) await board.answerRollback(known);
    this.settled = wish.id;
    return null;
  }

  async answer(answer: RollbackAnswer): Promise<void> {
    const { board } = this.parts;
    if (!isSame(await this.kept(), answer)) await writeAtomically(this.path, JSON.stringify(answer));
    if (!isSame(await board.rollbackAnswer(), answer)) await board.answerRollback(answer);
    if (answer.state !== 'failed') this.settled = answer.id;
  }

  /** One that cannot be read says nothing, and is not to keep the trainer from its work: the bus has it, too. */
  private async kept(): Promise<RollbackAnswer | null> {
    try {
      return await readJsonIfPresent(this.path, RollbackAnswer, 'Remove it.');
    } catch (error) {
      if (!(error instanceof HindcastError)) throw error;
      this.parts.log.error('rollback.unreadable', { error });
      return null;
    }
  }

  private get path(): string {
    return join(this.parts.folder, ANSWER);
  }
}

/** Whether the same was said, whenever. */
function isSame(before: RollbackAnswer | null, next: RollbackAnswer): boolean {
  return before?.id === next.id && before.state === next.state && before.message === next.message;
}
