import { setTimeout as sleep } from 'node:timers/promises';
import { CurrentPolicy, readNewer } from '@hindcast/contracts';
import { Buckets, CONFIG, Log, Nats } from '@hindcast/platform';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { KV } from '@nats-io/kv';
import type { TeacherConfig } from './config';
import { CURRENT } from './core/teacher-model';

const RETRY_MS = 500;
/** A watch that ends unnoticed must not freeze the version. */
const RE_READ_MS = 5_000;

/** The version that serves, for `TEACHER_MODEL=current`: read at the start, watched from then on. */
@Injectable()
export class CurrentPolicyWatch implements OnApplicationBootstrap, OnModuleDestroy {
  private current: CurrentPolicy | null = null;
  private stopped = false;
  private stopWatch: () => void = () => undefined;
  private endWait: () => void = () => undefined;
  private readonly wait = new Promise<void>((resolve) => (this.endWait = resolve));

  constructor(
    @Inject(CONFIG) private readonly config: TeacherConfig,
    private readonly buckets: Buckets,
    private readonly nats: Nats,
    private readonly log: Log,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.TEACHER_MODEL === CURRENT) void this.follow();
  }

  onModuleDestroy(): void {
    this.stopped = true;
    this.stopWatch();
    this.endWait();
  }

  /** Waits for the first read; before any step the base model serves. */
  async known(): Promise<Pick<CurrentPolicy, 'version' | 'adapter' | 'engines' | 'weights'>> {
    await this.wait;
    return this.current ?? { version: 0, adapter: null, engines: [], weights: 'named' };
  }

  private async follow(): Promise<void> {
    while (!this.stopped) {
      try {
        await this.nats.whenConnected();
        const kv = await this.buckets.open('policy');
        const watch = await this.nats.uncut(kv.watch({ key: 'current' }));
        this.stopWatch = () => watch.stop();
        if (this.stopped) watch.stop();
        const reading = this.reRead(kv, () => watch.stop());
        for await (const entry of watch) if (entry.operation === 'PUT') this.accept(entry);
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
        if (entry?.operation === 'PUT') this.accept(entry);
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

  private accept(entry: { string(): string }): void {
    let value: unknown = null;
    try {
      value = JSON.parse(entry.string());
    } catch {
      // Said below.
    }
    const parsed = readNewer(CurrentPolicy, value);
    if (!parsed.success) return this.log.error('policy.unreadable');
    if (parsed.data.version !== this.current?.version)
      this.log.info('policy.current', { policyVersion: parsed.data.version, adapter: parsed.data.adapter });
    this.current = parsed.data;
  }
}
