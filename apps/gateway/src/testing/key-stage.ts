import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNatsServer, type NatsServer } from '../../../../libs/platform/src/testing/nats-server';
import { FakeEngine } from './fake-engine';
import { eventually, startTestGateway, type RunningGateway } from './gateway-harness';
import { bearer } from './keys';

/** An engine and a NATS server, for gateways that each test starts with keys of its own. */
export class KeyStage {
  private readonly cleanUps: (() => Promise<unknown> | void)[] = [];

  private constructor(
    readonly nats: NatsServer,
    readonly engine: FakeEngine,
  ) {}

  static async start(): Promise<KeyStage> {
    return new KeyStage(await startNatsServer(), await FakeEngine.start());
  }

  /** A new folder, for this test. */
  folder(): string {
    const path = mkdtempSync(join(tmpdir(), 'hindcast-keys-'));
    this.cleanUps.push(() => rmSync(path, { recursive: true, force: true }));
    return path;
  }

  /** A gateway, for this test. */
  async startGateway(env: Record<string, string>): Promise<RunningGateway> {
    const gateway = await startTestGateway({ NATS_URL: this.nats.url, POLICY_BASE_URL: this.engine.url, ...env });
    this.cleanUps.push(() => gateway.stop());
    return gateway;
  }

  /** Ends what the test began. */
  async cleanUp(): Promise<void> {
    for (const step of this.cleanUps.splice(0).reverse()) await step();
  }

  async stop(): Promise<void> {
    await this.engine.stop();
    await this.nats.stop();
  }
}

/** Status of a plain request with these headers. */
export const statusOf = async (gateway: RunningGateway, headers: Record<string, string>): Promise<number> =>
  (await fetch(`${gateway.url}/v1/models`, { headers })).status;

/** Waits until the key is answered so. */
export const becomes = (gateway: RunningGateway, key: string, status: number): Promise<true> =>
  eventually(async () => (await statusOf(gateway, bearer(key))) === status || null) as Promise<true>;
