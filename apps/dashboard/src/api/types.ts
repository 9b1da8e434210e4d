// Answers of the gateway's /admin/v1 routes that the contracts do not have. Types only: zod stays out of the page.
import type {
  CurrentPolicy,
  DeadLetterRow,
  RollbackAnswer,
  RollbackWish,
  ServiceReport,
  VersionsPage,
} from '@hindcast/contracts';

export interface Session {
  readonly open: boolean;
  readonly name: string;
  readonly release: string;
}

export type PoliciesAnswer = VersionsPage & {
  readonly current: CurrentPolicy;
  /** Versions whose weights are there; `null` or missing where the trainer has not said. */
  readonly kept?: readonly number[] | null;
  readonly rollback: { readonly wish: RollbackWish; readonly answer: RollbackAnswer | null } | null;
};

export interface DeadLetterOne {
  readonly letter: DeadLetterRow;
  readonly message: string | null;
}

export interface SettingsAnswer {
  readonly services: readonly ServiceReport[];
}
