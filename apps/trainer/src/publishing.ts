import type { Bus, Log, Metrics, Nats } from '@hindcast/platform';
import { CanaryTrial } from './canary-trial';
import type { TrainerConfig } from './config';
import { runAwayAlarm } from './core/run-away';
import { JudgedTurns } from './judged-turns';
import { PolicyAnnouncer } from './policy-announcer';
import type { PolicyBoard } from './policy-board';
import { Publication } from './publication';
import { PublicationMetrics } from './publication-metrics';
import type { Workshop } from './workshop';

/** The parts of the service that publication needs. */
export interface PublishingServices {
  readonly nats: Nats;
  readonly bus: Bus;
  readonly board: PolicyBoard;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly shutdown: AbortSignal;
}

/** Puts publication together. */
export function publishingOf(
  config: TrainerConfig,
  { store, publisher, examination }: Pick<Workshop, 'store' | 'publisher' | 'examination'>,
  { nats, bus, board, log, metrics: registry, shutdown }: PublishingServices,
): Publication {
  const metrics = new PublicationMetrics(registry, log);
  const measured = store.all().findLast(({ metrics: { drift_nats: nats } }) => nats !== undefined);
  if (measured) metrics.drift(measured.metrics['drift_nats']!);
  const announcer = new PolicyAnnouncer({ store, publisher, board, bus, log, metrics });
  const rule = {
    share: config.CANARY_SHARE,
    minTurns: config.CANARY_MIN_TURNS,
    maxDrop: config.CANARY_MAX_DROP,
    maxWaitMs: 1000 * config.CANARY_MAX_WAIT_SECONDS,
  };
  const runAway = { klNats: config.KL_ALARM_NATS ?? null, entropyNats: config.ENTROPY_ALARM_NATS ?? null };
  const judged = new JudgedTurns(nats);
  const trial = new CanaryTrial({
    rule,
    judged,
    publisher,
    announcer,
    metrics,
    servedVersion: () => store.servedVersion,
  });
  return new Publication({
    store,
    publisher,
    examination,
    trial,
    announcer,
    board,
    log,
    metrics,
    shutdown,
    refusalOf: ({ metrics: numbers, progress }) => runAwayAlarm(numbers, progress, runAway)?.reason ?? null,
    pollMs: config.RECONCILE_MS,
  });
}
