import type { CurrentPolicy, LedgerOverview, ServiceReport, TrainerSettings } from '@hindcast/contracts';

export type ServiceSummary = Omit<ServiceReport, 'settings'>;

/** One engine, as a person sees it. */
export interface EngineSummary {
  /** Base URL without credentials. */
  readonly url: string;
  readonly ok: boolean;
  /** What is wrong with it. */
  readonly detail: string | null;
  /** Names that it answers to, as last heard. */
  readonly models: readonly string[];
}

/** Answer of `GET /admin/v1/overview`. */
export interface Overview {
  /** `null` while the dispatcher or its database is away. */
  readonly ledger: LedgerOverview | null;
  /** Samples of a step: wanted, and at least; `null` until a trainer has started. */
  readonly batch: { readonly size: number; readonly min: number } | null;
  readonly method: TrainerSettings['method'] | null;
  readonly policy: {
    readonly version: number;
    readonly adapter: string | null;
    /** Milliseconds since the epoch; 0: the base model has served from the beginning. */
    readonly since: number;
    readonly canary: CurrentPolicy['canary'];
  };
  readonly engines: readonly EngineSummary[];
  readonly services: readonly ServiceSummary[];
  readonly broker: {
    readonly ok: boolean;
    /** What its streams survive: `process-death` or `power-loss`; `null` before the first connection. */
    readonly durability: string | null;
  };
}

export interface OverviewParts {
  readonly ledger: LedgerOverview | null;
  readonly trainer: TrainerSettings | null;
  readonly policy: CurrentPolicy;
  readonly engines: readonly EngineSummary[];
  readonly services: readonly ServiceReport[];
  readonly isConnected: boolean;
  /** Of the least replicated stream; `null` before the first connection. */
  readonly replicas: number | null;
}

export function overviewOf(parts: OverviewParts): Overview {
  const { ledger, trainer, policy, engines, services, isConnected, replicas } = parts;
  return {
    ledger,
    batch: trainer && { size: trainer.batchSize, min: trainer.batchMin },
    method: trainer?.method ?? null,
    policy: { version: policy.version, adapter: policy.adapter, since: policy.at, canary: policy.canary },
    engines,
    services: services.map(({ settings: _, ...summary }) => summary),
    broker: {
      ok: isConnected,
      durability: replicas === null ? null : replicas >= 3 ? 'power-loss' : 'process-death',
    },
  };
}

/** What a page learns that shows lists: each text differs when its list should be asked for again. */
export interface Revisions {
  readonly turns: string | null;
  readonly steps: string | null;
}

/** Of a ledger that is away nothing is known: `null`. */
export const revisionsOf = ({ ledger, policy }: Overview): Revisions => ({
  turns: ledger?.turnsRevision ?? null,
  steps:
    ledger && `${ledger.status.steps} ${ledger.status.policyVersion} ${policy.version} ${policy.canary?.version ?? ''}`,
});
