import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync, watch, type FSWatcher } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { CONFIG, Log, Metrics } from '@hindcast/platform';
import type { GatewayConfig } from './config';
import { keysInForce, parseKeyFile, type ApiKey, type Limits, type NamedKey } from './core/api-keys';

/** How long a change may go unnoticed where the folder cannot be watched, as through a link into another one. */
const POLL_MS = 2_000;
/** A file that is being written in place is read once it is whole. */
const SETTLE_MS = 50;
/** What Kubernetes swaps when a mounted secret changes: the file itself is a link through it. */
const MOUNT_LINK = '..data';

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The API keys in force: those of the environment, and those of the keys file, which is read again when it changes. */
@Injectable()
export class KeyRing implements OnApplicationBootstrap, OnModuleDestroy {
  /** Without keys and without a file: one caller, who is not asked for a key. */
  readonly isOpen: boolean;
  private readonly file: string | undefined;
  private readonly environment: readonly NamedKey[];
  private readonly defaults: Limits;
  private keys: readonly { readonly key: ApiKey; readonly digest: Buffer }[] = [];
  /** What was found last: the hash of the text, or why it could not be read. */
  private seen = '';
  private isBroken = false;
  private timer: NodeJS.Timeout | null = null;
  private watcher: FSWatcher | null = null;
  private settling: NodeJS.Timeout | null = null;
  private reading: Promise<void> | null = null;

  constructor(
    @Inject(CONFIG) config: GatewayConfig,
    private readonly log: Log,
    metrics: Metrics,
  ) {
    this.file = config.API_KEYS_FILE;
    this.environment = [...config.API_KEYS, ...config.ADMIN_API_KEYS];
    this.isOpen = this.environment.length === 0 && this.file === undefined;
    this.defaults = {
      requestsPerMinute: config.KEY_REQUESTS_PER_MINUTE ?? null,
      tokensPerMinute: config.KEY_TOKENS_PER_MINUTE ?? null,
    };
    try {
      this.use(this.file === undefined ? null : readFileSync(this.file, 'utf8'));
    } catch (error) {
      const variable = this.file === undefined ? 'API_KEYS, ADMIN_API_KEYS' : 'API_KEYS_FILE';
      throw new HindcastError('config-invalid', `gateway cannot start: ${variable}: ${problemOf(error)}`);
    }
    metrics.gauge('api_keys_file_broken', 'The keys file is broken or gone, older keys are in force', [], (gauge) =>
      gauge.set(this.isBroken ? 1 : 0),
    );
  }

  onApplicationBootstrap(): void {
    if (this.file === undefined) return;
    this.timer = setInterval(() => void this.refresh(), POLL_MS);
    this.timer.unref();
    this.watchFolder(this.file);
  }

  async onModuleDestroy(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    if (this.settling) clearTimeout(this.settling);
    this.watcher?.close();
    await this.reading;
  }

  /** The known keys among the given texts, in their order. Expired ones are found too. */
  find(texts: readonly string[]): readonly ApiKey[] {
    return texts.map((text) => this.findOne(sha256(text))).filter((key) => key !== null);
  }

  /** Limits of who needs no key, and of keys that have none of their own. */
  get defaultLimits(): Limits {
    return this.defaults;
  }

  private findOne(digest: Buffer): ApiKey | null {
    let found: ApiKey | null = null;
    // Every key is compared: how long it takes says nothing about which one matched.
    for (const known of this.keys) if (timingSafeEqual(known.digest, digest)) found = known.key;
    return found;
  }

  /** @throws RangeError when the keys cannot be used; those before stay. */
  private use(text: string | null): void {
    if (text !== null) this.seen = sha256(text).toString('hex');
    const file = text === null ? [] : parseKeyFile(text, this.defaults);
    const keys = keysInForce(this.environment, file, this.defaults);
    this.keys = keys.map((key) => ({ key, digest: Buffer.from(key.sha256, 'hex') }));
  }

  private refresh(): Promise<void> {
    this.reading ??= this.readAgain(this.file!).finally(() => (this.reading = null));
    return this.reading;
  }

  /** Compares the text, not the time of the file: what a link points to may change without it. */
  private async readAgain(file: string): Promise<void> {
    try {
      const text = await readFile(file, 'utf8');
      if (sha256(text).toString('hex') === this.seen) return;
      this.use(text);
      this.isBroken = false;
      this.log.info('keys.loaded', { keys: this.keys.length });
    } catch (error) {
      const problem = problemOf(error);
      const isKnown = this.isBroken && this.seen === problem;
      if (!(error instanceof RangeError)) this.seen = problem;
      this.isBroken = true;
      if (!isKnown) this.log.error('keys.refused', { file, problem });
    }
  }

  private watchFolder(file: string): void {
    const names = [basename(file), MOUNT_LINK];
    try {
      this.watcher = watch(dirname(file), { persistent: false }, (_, name) => {
        if (name !== null && !names.includes(name)) return;
        if (this.settling) clearTimeout(this.settling);
        this.settling = setTimeout(() => void this.refresh(), SETTLE_MS).unref();
      });
      this.watcher.on('error', (error) => this.log.warn('keys.watch-failed', { error }));
    } catch (error) {
      this.log.warn('keys.watch-failed', { error });
    }
  }
}

/** In our words: the system's message and the parser's may quote the file. */
function problemOf(error: unknown): string {
  if (error instanceof RangeError) return error.message;
  return `it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`;
}
