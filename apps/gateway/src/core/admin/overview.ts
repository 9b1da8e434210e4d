import type {
  CurrentPolicy,
  EngineSummary,
  LedgerOverview,
  Overview,
  ServiceReport,
  TrainerSettings,
} from '@hindcast/contracts';

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
    engines: [...engines],
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
