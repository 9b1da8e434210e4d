import { startNatsServer, type NatsServer } from '../../../../libs/platform/src/testing/nats-server';
import { FakeEngine } from './fake-engine';
import { FakeLedger } from './fake-ledger';
import { BusReader, eventually, startTestGateway, type RunningGateway } from './gateway-harness';
import { keyOf } from './keys';

type Json = Record<string, unknown>;

export interface AdminAnswer {
  readonly status: number;
  readonly body: Json;
  readonly text: string;
}

export const codeOf = ({ body }: AdminAnswer): unknown => (body['error'] as Json | undefined)?.['code'];

/** A gateway with secrets of every kind, a bus, a ledger and an engine; `anns` is a caller's key, `roots` the administrator's. */
export interface AdminStage {
  readonly nats: NatsServer;
  readonly engine: FakeEngine;
  readonly bus: BusReader;
  readonly ledger: FakeLedger;
  readonly gateway: RunningGateway;
  /** @param path below `/admin/v1/` */
  get(path: string): Promise<AdminAnswer>;
  post(path: string, body?: unknown): Promise<AdminAnswer>;
  stop(): Promise<void>;
}

export async function startAdminStage(): Promise<AdminStage> {
  const nats = await startNatsServer();
  const engine = await FakeEngine.start();
  const bus = await BusReader.connect(nats.url);
  const ledger = await FakeLedger.start(bus.raw);
  const gateway = await startTestGateway({
    NATS_URL: nats.url,
    POLICY_BASE_URL: engine.url.replace('://', '://engineer:engine-secret@'),
    POLICY_API_KEY: 'sk-engine-secret',
    API_KEYS: keyOf('ann', 'anns'),
    ADMIN_API_KEYS: keyOf('root', 'roots'),
    SESSION_SECRET: 'a-session-secret-of-32-characters',
  });
  await eventually(async () => (await (await fetch(`${gateway.url}/readyz`)).text()).includes('"degraded":[]'));
  // The gateway makes its buckets a moment after it is connected.
  await eventually(async () => (await bus.bucket('policy')).put('unused', '').then(() => true));
  const ask = async (path: string, init: RequestInit): Promise<AdminAnswer> => {
    const response = await fetch(`${gateway.url}/admin/v1/${path}`, init);
    const text = await response.text();
    return { status: response.status, body: JSON.parse(text) as Json, text };
  };
  const headers = { authorization: 'Bearer roots' };
  return {
    nats,
    engine,
    bus,
    ledger,
    gateway,
    get: (path) => ask(path, { headers }),
    post: (path, body) =>
      ask(path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    stop: async () => {
      await gateway.stop();
      ledger.stop();
      await bus.close();
      await engine.stop();
      await nats.stop();
    },
  };
}
