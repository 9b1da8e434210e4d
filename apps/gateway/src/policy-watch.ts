import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { CurrentPolicy, TrainerSettings, readNewer } from '@hindcast/contracts';
import { CONFIG, Log, Metrics, Nats } from '@hindcast/platform';
import type { KV } from '@nats-io/kv';
import type { GatewayConfig } from './config';
import { KvAccess } from './kv-access';

const RETRY_MS = 500;
/** How long the first requests wait to learn the version; after that the base model serves until it is known. */
const FIRST_READ_MS = 1_000;
/** A watch that ends unnoticed must not freeze the version. */
const RE_READ_MS = 5_000;

/** The version that serves now: read at the start, watched from then on. Before NATS was ever reached it is the base model. */
@Injectable()
export class PolicyWatch implements OnApplicationBootstrap, OnModuleDestroy {
  current: CurrentPolicy;
  /** It was read once, or there is none yet. */
  isKnown = false;
  private stopped = false;
  private stopWatch: () => void = () => undefined;
  /** It was read, or the first requests have waited long enough for that. */
  private isWaitOver = false;
  private endWait: () => void = () => undefined;
  private readonly wait = new Promise<void>((resolve) => {
    this.endWait = () => {
      this.isWaitOver = true;
      resolve();
    };
  });

  constructor(
    @Inject(CONFIG) config: GatewayConfig,
    private readonly access: KvAccess,
    private readonly nats: Nats,
    private readonly log: Log,
    metrics: Metrics,
  ) {
    this.current = {
      version: 0,
      adapter: null,
      engines: config.POLICY_BASE_URL,
      weights: 'named',
      canary: null,
      at: 0,
    };
    metrics.gauge('policy_version', 'Version that new requests go to', [], (gauge) => gauge.set(this.current.version));
  }

  onApplicationBootstrap(): void {
    setTimeout(this.endWait, FIRST_READ_MS).unref();
    void this.follow();
  }

  onModuleDestroy(): void {
    this.stopped = true;
    // Its heartbeat timer would outlive the connection.
    this.stopWatch();
  }

  /** The current version, once it was read: a gateway that just started must not answer with an old one. No promise from then on. */
  known(): CurrentPolicy | Promise<CurrentPolicy> {
    return this.isWaitOver ? this.current : this.wait.then(() => this.current);
  }

  /** What the trainer runs with, or `null` when none has started yet. */
  async trainerSettings(): Promise<TrainerSettings | null> {
    const entry = await (await this.access.kv('policy')).get('trainer');
    const parsed = readNewer(TrainerSettings, entry?.operation === 'PUT' ? readJson(entry) : null);
    return parsed.success ? parsed.data : null;
  }

  private async follow(): Promise<void> {
    while (!this.stopped) {
      try {
        await this.nats.whenConnected();
        const kv = await this.access.kv('policy');
        const watch = await this.nats.uncut(kv.watch({ key: 'current' }));
        this.stopWatch = () => watch.stop();
        if (this.stopped) watch.stop();
        const reading = this.reRead(kv, () => watch.stop());
        for await (const entry of watch) if (entry.operation === 'PUT') this.accept(readJson(entry));
        await reading;
      } catch (error) {
        this.log.warn('policy.watch-failed', { error });
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  /** Ends the watch when the app stops, or when the bucket can no longer be read. */
  private async reRead(kv: KV, stop: () => void): Promise<void> {
    try {
      while (!this.stopped) {
        const entry = await kv.get('current');
        if (entry?.operation === 'PUT') this.accept(readJson(entry));
        else this.isKnown = true;
        this.endWait();
        await sleep(RE_READ_MS, undefined, { ref: false });
      }
    } catch (error) {
      this.log.warn('policy.read-failed', { error });
      await sleep(RETRY_MS, undefined, { ref: false });
    } finally {
      stop();
    }
  }

  private accept(value: unknown): void {
    const parsed = readNewer(CurrentPolicy, value);
    if (!parsed.success) return this.log.error('policy.unreadable');
    const { version, adapter, canary } = parsed.data;
    const { current } = this;
    if (version !== current.version || adapter !== current.adapter)
      this.log.info('policy.current', { policyVersion: version, adapter });
    if (canary && canary.version !== current.canary?.version)
      this.log.info('policy.on-trial', { policyVersion: canary.version, share: canary.share });
    this.current = parsed.data;
    this.isKnown = true;
  }
}

function readJson(entry: { json<T>(): T }): unknown {
  try {
    return entry.json<unknown>();
  } catch {
    return null;
  }
}
