// Answers of the gateway's /admin/v1 routes. Types only: zod stays out of the page.
import type {
  CanaryPolicy,
  CurrentPolicy,
  DeadLetterRow,
  EncodedArray,
  LedgerOverview,
  RollbackAnswer,
  RollbackWish,
  ServiceReport,
  TurnDetail,
  VersionsPage,
} from '@hindcast/contracts';

export interface Session {
  readonly open: boolean;
  readonly name: string;
  readonly release: string;
}

export type ServiceSummary = Omit<ServiceReport, 'settings'>;

export interface Engine {
  readonly url: string;
  readonly ok: boolean;
  readonly detail: string | null;
  readonly models: readonly string[];
}

/** Also the data of the event `overview`. */
export interface Overview {
  /** `null` while the dispatcher or its database is away. */
  readonly ledger: LedgerOverview | null;
  readonly batch: { readonly size: number; readonly min: number } | null;
  readonly method: string | null;
  readonly policy: {
    readonly version: number;
    readonly adapter: string | null;
    readonly since: number | null;
    readonly canary: CanaryPolicy | null;
  };
  readonly engines: readonly Engine[];
  readonly services: readonly ServiceSummary[];
  readonly broker: { readonly ok: boolean; readonly durability: string | null };
}

export interface TurnAnswer {
  readonly detail: TurnDetail;
  /** Text of each sampled token, `[R]`. */
  readonly texts: readonly (string | null)[] | null;
  /** What the advantages would be with the trainer's weights of now. */
  readonly expected: { readonly advantages: EncodedArray; readonly wRl: number; readonly wOpd: number } | null;
}

export type PoliciesAnswer = VersionsPage & {
  readonly current: CurrentPolicy;
  readonly rollback: { readonly wish: RollbackWish; readonly answer: RollbackAnswer | null } | null;
};

export interface DeadLetterOne {
  readonly letter: DeadLetterRow;
  readonly message: string | null;
}

export interface SettingsAnswer {
  readonly services: readonly ServiceReport[];
}
