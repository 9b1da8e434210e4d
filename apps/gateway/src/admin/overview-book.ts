import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import {
  HindcastError,
  type EngineSummary,
  type LedgerOverview,
  type Overview,
  type TrainerSettings,
} from '@hindcast/contracts';
import { Bus, Nats } from '@hindcast/platform';
import { overviewOf } from '../core/admin/overview';
import { EngineModels } from '../engine-models';
import { EnginePool } from '../engine-pool';
import { KvAccess } from '../kv-access';
import { PolicyWatch } from '../policy-watch';
import { ServicesSurvey } from './services-survey';

/** What the services said a moment ago will do: a page asks every second. */
const SERVICES_AGE_MS = 3_000;
const TRAINER_WAIT_MS = 1_500;

/** Gathers how everything is. What is away is missing from it, and keeps nothing else from being told. */
@Injectable()
export class OverviewBook {
  private looking: Promise<Overview> | null = null;

  constructor(
    private readonly bus: Bus,
    private readonly nats: Nats,
    private readonly access: KvAccess,
    private readonly policy: PolicyWatch,
    private readonly pool: EnginePool,
    private readonly models: EngineModels,
    private readonly survey: ServicesSurvey,
  ) {}

  /** Whoever asks while it is looked up gets the same answer. Takes less than three seconds. */
  look(): Promise<Overview> {
    this.looking ??= this.gather().finally(() => (this.looking = null));
    return this.looking;
  }

  private async gather(): Promise<Overview> {
    const [ledger, trainer, policy, engines, services] = await Promise.all([
      this.ledger(),
      this.trainer(),
      this.policy.known(),
      this.engines(),
      this.survey.reports(SERVICES_AGE_MS),
    ]);
    const { connected: isConnected, replicas } = this.nats;
    return overviewOf({ ledger, trainer, policy, engines, services, isConnected, replicas });
  }

  private async ledger(): Promise<LedgerOverview | null> {
    try {
      return await this.bus.request('overview', { tenant: null });
    } catch (error) {
      if (error instanceof HindcastError) return null;
      throw error;
    }
  }

  /** `null` as well while NATS is away, or is there and says nothing. */
  private async trainer(): Promise<TrainerSettings | null> {
    if (!this.nats.connected) return null;
    const settings = this.access.whileConnected(this.policy.trainerSettings()).catch(() => null);
    return Promise.race([settings, sleep(TRAINER_WAIT_MS, null, { ref: false })]);
  }

  private async engines(): Promise<EngineSummary[]> {
    await this.models.listed(null);
    return this.pool.states().map(({ url, shownUrl, problem }) => ({
      url: shownUrl,
      ok: problem === null,
      detail: problem,
      models: this.models.listedBy(url).map(({ id }) => id),
    }));
  }
}
