import { randomBytes } from 'node:crypto';
import { HindcastError, queries, type LedgerStatus, type TurnAnswer, type TurnStory } from '@hindcast/contracts';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { Buckets } from './buckets';
import { Bus } from './bus';
import { Log } from './log';
import { Nats } from './nats';
import { startNatsServer, type NatsServer } from './testing/nats-server';
import { until } from './testing/until';

let server: NatsServer;
let connection: NatsConnection;
const opened: Nats[] = [];

beforeAll(async () => {
  server = await startNatsServer();
  connection = await connect({ servers: server.url });
});
afterEach(async () => {
  for (const nats of opened.splice(0)) await nats.close();
});
afterAll(async () => {
  await connection.close();
  await server.stop();
});

const log = new Log('spec', 'silent');

async function client(app: string, { url } = server): Promise<{ nats: Nats; bus: Bus; buckets: Buckets }> {
  const nats = new Nats({ app, servers: url, replicas: 1 }, log);
  opened.push(nats);
  nats.start();
  await nats.whenConnected();
  return { nats, bus: new Bus(app, nats, log), buckets: new Buckets(nats, 1) };
}

const ask = { tenant: 'default', id: 'turn-1' };

describe('queries', () => {
  it('answer, each question once however many processes respond', async () => {
    const [gateway, first, second] = [await client('gateway'), await client('dispatcher'), await client('dispatcher')];
    let answered = 0;
    for (const { bus } of [first, second]) {
      bus.respond('turn', async (question) => {
        answered++;
        expect(question).toEqual(ask);
        return { found: false };
      });
    }
    for (const { nats } of [first, second]) await nats.connection().flush();
    for (let i = 0; i < 6; i++) expect(await gateway.bus.request('turn', ask)).toEqual({ found: false });
    expect(answered).toBe(6);
  });

  const unavailable = { code: 'ledger-unavailable' } satisfies Partial<HindcastError>;

  it('are ledger-unavailable when nobody listens', async () => {
    const { bus } = await client('gateway');
    await expect(bus.request('turn', ask)).rejects.toMatchObject(unavailable);
  });

  it('are ledger-unavailable when nobody answers in time', async () => {
    const [gateway, dispatcher] = [await client('gateway'), await client('dispatcher')];
    dispatcher.bus.respond('turn', () => new Promise(() => undefined));
    await dispatcher.nats.connection().flush();
    await expect(gateway.bus.request('turn', ask)).rejects.toMatchObject(unavailable);
  });

  it('that order something are waited for when those that only ask are given up', async () => {
    const [gateway, dispatcher] = [await client('gateway'), await client('dispatcher')];
    let givenUp = (): void => undefined;
    const isGivenUp = new Promise<void>((resolve) => (givenUp = resolve));
    dispatcher.bus.respond('turn', () => new Promise(() => undefined));
    dispatcher.bus.respond('discardDeadLetter', async () => {
      await isGivenUp;
      return { outcome: 'discarded', message: 'Gone.' };
    });
    await dispatcher.nats.connection().flush();
    const order = gateway.bus.request('discardDeadLetter', { tenant: null, sequence: 1, at: 1 });
    await expect(gateway.bus.request('turn', ask)).rejects.toMatchObject(unavailable);
    givenUp();
    expect(await order).toMatchObject({ outcome: 'discarded' });
  });

  it('are ledger-unavailable when the responder fails or answers what breaks the schema', async () => {
    const [gateway, dispatcher] = [await client('gateway'), await client('dispatcher')];
    dispatcher.bus.respond('turn', () => Promise.reject(new Error('no database')));
    dispatcher.bus.respond('status', async () => ({ steps: -1 }) as LedgerStatus);
    await dispatcher.nats.connection().flush();
    await expect(gateway.bus.request('turn', ask)).rejects.toMatchObject(unavailable);
    await expect(gateway.bus.request('status', { tenant: null })).rejects.toMatchObject(unavailable);
  });

  it('are invalid where the responder says so, and with what it says', async () => {
    const [gateway, dispatcher] = [await client('gateway'), await client('dispatcher')];
    dispatcher.bus.respond('turn', () => Promise.reject(new HindcastError('invalid-request', 'id: of nothing here')));
    await dispatcher.nats.connection().flush();
    const refused = { code: 'invalid-request', message: 'id: of nothing here' };
    await expect(gateway.bus.request('turn', ask)).rejects.toMatchObject(refused);
  });

  it('survive a question that is not JSON and one without a reply subject', async () => {
    const [gateway, dispatcher] = [await client('gateway'), await client('dispatcher')];
    dispatcher.bus.respond('turn', async () => ({ found: false }));
    await dispatcher.nats.connection().flush();
    connection.publish(queries.turn.subject, 'not JSON');
    const answer = await connection.request(queries.turn.subject, '{"tenant":1}');
    expect(answer.headers?.get('Nats-Service-Error')).toBe('the question breaks its schema');
    expect(await gateway.bus.request('turn', ask)).toEqual({ found: false });
  });
});

describe('an answer that is longer than NATS takes', () => {
  const MAX_PAYLOAD = 64 * 1024;
  const told: TurnStory = {
    turnId: 'turn-1',
    responseId: 'chatcmpl-1',
    state: 'paired',
    case: null,
    reason: null,
    policyVersion: 1,
    evalScore: null,
    reward: null,
    rewardSource: null,
    hint: null,
    trainedIn: null,
  };
  let small: NatsServer;
  beforeAll(async () => void (small = await startNatsServer({ maxPayload: MAX_PAYLOAD })));
  afterAll(() => small.stop());

  async function asked(hint: string): Promise<TurnAnswer> {
    const [gateway, dispatcher] = [await client('gateway', small), await client('dispatcher', small)];
    dispatcher.bus.respond('turn', async () => ({ found: true, turn: { ...told, hint } }));
    await dispatcher.nats.connection().flush();
    return gateway.bus.request('turn', ask);
  }

  it.each([
    ['by far', 20 * MAX_PAYLOAD],
    ['only with its headers', MAX_PAYLOAD - 300],
    ['by nothing', 1_000],
  ])('%s arrives whole', async (_name, length) => {
    const hint = 'lang → '.repeat(length / 9);
    expect(await asked(hint)).toEqual({ found: true, turn: { ...told, hint } });
  });

  it('packed as well says so, and what to do', async () => {
    await expect(asked(randomBytes(2 * MAX_PAYLOAD).toString('base64'))).rejects.toMatchObject({
      code: 'ledger-unavailable',
      message: expect.stringMatching(/more than the 65536 that NATS takes: raise max_payload/) as string,
    });
  });
});

describe('buckets', () => {
  it('are created once with our settings, and the age limit that the gateway asks for wins', async () => {
    const { buckets } = await client('gateway');
    const other = await client('teacher-svc');
    const captures = await other.buckets.open('captures');
    const manager = await jetstreamManager(connection);
    const days = async (): Promise<number> => (await manager.streams.info('KV_captures')).config.max_age / 86_400e9;
    expect(await days()).toBe(14);
    await buckets.open('captures', { ttlMs: 9 * 86_400_000 });
    expect(await days()).toBe(9);
    await other.buckets.open('captures');
    expect(await days()).toBe(9);
    const { config } = await manager.streams.info('KV_captures');
    expect(config).toMatchObject({ storage: 'file', max_msg_size: -1, num_replicas: 1, max_msgs_per_subject: 1 });
    const value = new Uint8Array(7 * 1024 * 1024).fill(7);
    await captures.put('turn', value);
    expect(Buffer.compare((await captures.get('turn'))!.value, value)).toBe(0);
  });

  it('a watch that is being opened when the connection closes leaves no timer behind', async () => {
    const running = new Set<unknown>();
    const [start, stop] = [globalThis.setInterval, globalThis.clearInterval];
    const started = jest.spyOn(globalThis, 'setInterval').mockImplementation(((...args: Parameters<typeof start>) => {
      const timer = start(...args);
      running.add(timer);
      return timer;
    }) as typeof start);
    const stopped = jest.spyOn(globalThis, 'clearInterval').mockImplementation((timer) => {
      running.delete(timer);
      stop(timer);
    });
    for (let turns = 0; turns < 40; turns++) {
      const { nats, buckets } = await client('gateway');
      const policy = await buckets.open('policy');
      const opening = nats.uncut(policy.watch({ key: 'current' })).then((watch) => watch.stop());
      // The connection closes a moment later each time.
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      await Promise.all([nats.close(), opening.catch(() => undefined)]);
    }
    await until(() => running.size === 0);
    started.mockRestore();
    stopped.mockRestore();
  });

  it('compare and set', async () => {
    const { buckets } = await client('gateway');
    const open = await buckets.open('openTurns');
    const revision = await open.create('key', 'open');
    await open.update('key', 'pairing', revision);
    await expect(open.update('key', 'late', revision)).rejects.toThrow(/wrong last sequence/);
    await expect(open.create('key', 'again')).rejects.toThrow();
    const { config } = await (await jetstreamManager(connection)).streams.info('KV_open-turns');
    expect(config.max_age).toBe(0);
  });
});
