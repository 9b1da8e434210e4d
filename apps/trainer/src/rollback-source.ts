import type { RollbackAnswer, RollbackWish } from '@hindcast/contracts';

/** A place where people ask for an earlier version, and are answered. */
export interface RollbackSource {
  /** What is asked for and not settled yet; `null` when nothing is. */
  wish(): Promise<RollbackWish | null>;
  /** Says what became of it. `failed` is tried again; after anything else the wish is never seen again. */
  answer(answer: RollbackAnswer): Promise<void>;
}
