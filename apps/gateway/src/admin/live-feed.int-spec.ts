import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startNatsServer, type NatsServer } from '../../../../libs/platform/src/testing/nats-server';
import { FakeEngine } from '../testing/fake-engine';
import { FakeLedger, overviewAnswer } from '../testing/fake-ledger';
import { BusReader, eventually, startTestGateway, type RunningGateway } from '../testing/gateway-harness';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

let nats: NatsServer;
let engine: FakeEngine;
let bus: BusReader;
let ledger: FakeLedger;
let gateway: RunningGateway;
const readers: Reader[] = [];

/** Reads the feed as it comes, or takes nothing of it until told to. */
class Reader {
  hasEnded = false;
  private readonly blocks: string[] = [];
  private pieces: string[] = [];
  private constructor(readonly response: IncomingMessage) {
    response.on('end', () => (this.hasEnded = true));
    response.on('error', () => undefined);
  }

  static async open(to: RunningGateway, isPaused = false, key = ''): Promise<Reader> {
    const headers = key === '' ? {} : { 'x-api-key': key };
    const asked = request(`${to.url}/admin/v1/events`, { headers }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    const reader = new Reader(response);
    readers.push(reader);
    if (!isPaused) reader.read();
    return reader;
  }

  read(): void {
    this.response.on('data', (piece: Buffer) => {
      this.pieces.push(piece.toString());
      if (!this.pieces.at(-1)!.endsWith('\n\n')) return;
      this.blocks.push(...this.pieces.join('').split('\n\n').slice(0, -1));
      this.pieces = [];
    });
  }

  events(name: string): unknown[] {
    return this.blocks
      .filter((block) => block.startsWith(`event: ${name}\ndata: `))
      .map((block) => JSON.parse(block.slice(block.indexOf('data: ') + 6)) as unknown);
  }

  async event(name: string, nth = 1): Promise<unknown> {
    return eventually(() => Promise.resolve(this.events(name)[nth - 1] ?? null));
  }

  /** Every event came to its end. */
  get isWhole(): boolean {
    return this.pieces.length === 0;
  }

  leave(): void {
    this.response.destroy();
  }
}

beforeAll(async () => {
  nats = await startNatsServer();
  engine = await FakeEngine.start();
  bus = await BusReader.connect(nats.url);
  ledger = await FakeLedger.start(bus.raw);
  gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url });
  await eventually(async () => (await (await fetch(`${gateway.url}/readyz`)).text()).includes('"degraded":[]'));
  // The gateway makes its buckets a moment after it is connected.
  await eventually(async () => (await bus.bucket('policy')).put('unused', '').then(() => true));
});
afterAll(async () => {
  await gateway.stop();
  ledger.stop();
  await bus.close();
  await engine.stop();
  await nats.stop();
});
beforeEach(() => {
  ledger.answers = { overview: () => overviewAnswer() };
});
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.leave();
  await quiet();
});

const looks = (): number => ledger.questions('overview').length;
/** Waits until nobody has looked for longer than a look takes to follow another. */
async function quiet(): Promise<void> {
  for (let seen = -1; seen !== looks();) {
    seen = looks();
    await sleep(1_500);
  }
}

it('nobody listens: nothing is asked', async () => {
  const before = looks();
  await sleep(1_500);
  expect(looks()).toBe(before);
});

it('tells everything at once, and what changed then, to two with one look', async () => {
  const first = await Reader.open(gateway);
  expect(first.response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
  });
  expect(await first.event('overview')).toMatchObject({ ledger: overviewAnswer(), broker: { ok: true } });
  // A page that is open is no load that would call for another gateway.
  expect(await gateway.metric('requests_in_flight')).toBe(0);
  // Who comes between two looks is told without one of its own.
  let second: Reader;
  for (let before = -1; before !== looks();) {
    before = looks();
    second = await Reader.open(gateway);
    expect(await second.event('overview')).toEqual(first.events('overview').at(-1));
  }
  expect([...first.events('turns'), ...first.events('steps')]).toEqual([]);

  ledger.answers.overview = () => overviewAnswer({ turnsRevision: '2' });
  const told = await Promise.all([first, second!].map((reader) => reader.event('turns')));
  expect(told).toEqual([{ revision: '2' }, { revision: '2' }]);
  const { status } = overviewAnswer();
  ledger.answers.overview = () =>
    overviewAnswer({ turnsRevision: '2', status: { ...status, steps: 1, policyVersion: 1 } });
  expect(await Promise.all([first, second!].map((reader) => reader.event('steps')))).toEqual([
    { version: 0 },
    { version: 0 },
  ]);
  await bus.setPolicy('current', { version: 1, adapter: 'hindcast-v000001', engines: [engine.url], at: 5 });
  expect(await first.event('steps', 2)).toEqual({ version: 1 });
  expect(first.events('turns')).toHaveLength(1);
});

it('a ledger that comes back is told, and no list changed by that', async () => {
  const reader = await Reader.open(gateway);
  await reader.event('overview');
  ledger.answers.overview = undefined;
  await eventually(async () => (reader.events('overview').at(-1) as { ledger: unknown }).ledger === null);
  ledger.answers.overview = () => overviewAnswer();
  await eventually(async () => (reader.events('overview').at(-1) as { ledger: unknown }).ledger !== null);
  expect([...reader.events('turns'), ...reader.events('steps')]).toEqual([]);
});

it('one who takes nothing holds nobody up, and hears the latest in the end', async () => {
  let revision = 0;
  const pending = { ['a'.repeat(900_000)]: 1 };
  ledger.answers.overview = () => overviewAnswer({ pending, turnsRevision: String(++revision) });
  const slow = await Reader.open(gateway, true);
  const quick = await Reader.open(gateway);
  await quick.event('turns', 4);
  slow.read();
  ledger.answers.overview = () => overviewAnswer({ turnsRevision: 'last' });
  await eventually(async () =>
    slow.events('turns').some((event) => (event as { revision: string }).revision === 'last'),
  );
});

it('ends when the key is taken away, and tells it nothing more', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hindcast-feed-'));
  const file = join(folder, 'keys.json');
  const keys = (...names: string[]): void =>
    writeFileSync(file, JSON.stringify({ keys: names.map((name) => ({ name, sha256: sha256(name), admin: true })) }));
  keys('ann', 'bob');
  const keyed = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, API_KEYS_FILE: file });
  const [ann, bob] = [await Reader.open(keyed, false, 'ann'), await Reader.open(keyed, false, 'bob')];
  await Promise.all([ann.event('overview'), bob.event('overview')]);
  keys('bob');
  await eventually(() => Promise.resolve(ann.hasEnded));
  ledger.answers.overview = () => overviewAnswer({ turnsRevision: 'secret' });
  await bob.event('turns');
  expect([ann.events('turns'), bob.hasEnded]).toEqual([[], false]);
  await keyed.stop();
  rmSync(folder, { recursive: true });
});

it('ends at shutdown, at once', async () => {
  const env = { NATS_URL: nats.url, POLICY_BASE_URL: engine.url };
  // What is open then would be cut off at this limit only.
  const leaving = await startTestGateway(env, undefined, { shutdownMs: 600_000 });
  const reader = await Reader.open(leaving);
  await reader.event('overview');
  await leaving.stop();
  await eventually(() => Promise.resolve(reader.hasEnded));
  expect(reader.isWhole).toBe(true);
});

it('HEAD says what would come', async () => {
  const response = await fetch(`${gateway.url}/admin/v1/events`, { method: 'HEAD' });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
});
