import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ContractViolation, DependencyUnavailable } from '@hindcast/contracts';
import type { Log } from '@hindcast/platform';
import { errors } from '@nats-io/nats-core';
import type { Operation } from './core/operation';
import { Spool } from './spool';
import { SpoolDrain, type Outcome } from './spool-drain';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined } as unknown as Log;
const refused = (): Error => errors.InvalidArgumentError.format('payload', 'max_payload size exceeded');

describe('SpoolDrain', () => {
  let folder: string;
  let spool: Spool;
  let drain: SpoolDrain;
  let now: number;
  let isConnected: boolean;
  let dropped: string[];
  /** Ids of the attempts, in order, and what each attempt at an id meets. */
  let attempts: string[];
  let handedOver: string[];
  let meets: Record<string, () => Error | Outcome>;

  const continued = (id: string, key: string): Operation => ({
    kind: 'continue',
    id,
    sessionId: null,
    continuations: [
      { key, texts: { conversation: [], answer: '', nextState: [] }, context: '', isKnown: false, edited: null },
    ],
  });
  const opened = (turnId: string, key: string): Operation => {
    const captured = {
      responseId: turnId,
      sessionId: null,
      policyVersion: 0,
      model: 'seed',
      promptTokens: 1,
      completionTokens: 1,
      finishReason: 'stop' as const,
      untrainable: null,
      userId: null,
      outcomePending: false,
    };
    const turn = { turnId, tenant: 't', sessionId: null, context: '', openedAt: 1, captured, announced: false };
    return { kind: 'open', key, turn: { ...turn, ending: null }, inSession: null };
  };
  const idOf = (operation: Operation): string =>
    operation.kind === 'open' ? operation.turn.turnId : 'id' in operation ? operation.id : operation.turnId;
  const idsOf = (operations: readonly { operation: Operation }[]): string[] =>
    operations.map(({ operation }) => idOf(operation));
  const startDrain = (clock = (): number => now): SpoolDrain =>
    new SpoolDrain({
      spool,
      perform: ({ operation }) => {
        attempts.push(idOf(operation));
        const met = meets[idOf(operation)]?.() ?? 'done';
        return met instanceof Error ? Promise.reject(met) : Promise.resolve(met);
      },
      onEarly: ({ operation }) => void handedOver.push(idOf(operation)),
      isConnected: () => isConnected,
      log,
      now: clock,
    });
  const startSpool = (): Spool =>
    new Spool({
      folder,
      maxBytes: 1e6,
      onDropped: (operation, reason) => dropped.push(`${idOf(operation)} ${reason}`),
    });
  /** Drains again and again, the clock put on by a second each time. */
  const drainFor = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      await drain.drain();
      now += 1_000;
    }
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hindcast-drain-'));
    [now, isConnected, dropped, attempts, meets] = [1_000_000, true, [], [], {}];
    handedOver = [];
    spool = startSpool();
    drain = startDrain();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('goes on past more failures than it tries at once', async () => {
    for (let index = 0; index < 100; index++) {
      await spool.append(continued(`bad ${index}`, `bad ${index}`), null);
      meets[`bad ${index}`] = () => new DependencyUnavailable('nats', 'no room');
    }
    await spool.append(continued('good', 'good'), null);
    await drainFor(3);
    expect(attempts).toContain('good');
    expect(spool.size).toBe(100);
    expect(dropped).toEqual([]);
  });

  it('keeps the order of what touches the same, and only of that', async () => {
    meets['first'] = () => new DependencyUnavailable('nats', 'slow');
    await spool.append(continued('first', 'a'), null);
    await spool.append(continued('second', 'a'), null);
    await spool.append(continued('other', 'b'), null);
    await drain.drain();
    expect(attempts.sort()).toEqual(['first', 'other']);
    delete meets['first'];
    await drainFor(3);
    expect(attempts.slice(2)).toEqual(['first', 'second']);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('gives up what is refused again and again, and says how the turn ended', async () => {
    let isRefused = true;
    meets['bad'] = () => (isRefused ? refused() : 'done');
    await spool.append(opened('bad', 'a'), new Uint8Array(10));
    await spool.append(continued('behind', 'a'), null);
    await drainFor(14);
    expect(attempts).not.toContain('behind');
    expect(dropped).toEqual([]);
    const refusals = attempts.length;
    isRefused = false;
    meets['bad'] = () => (attempts.length === refusals + 1 ? refused() : 'done');
    await drain.drain();
    await drainFor(2);
    expect(dropped).toEqual(['bad refused']);
    // The last try, then its closing beside what had waited.
    expect(attempts.slice(refusals).sort()).toEqual(['bad', 'bad', 'behind']);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('a closing that is refused as well is given up in turn', async () => {
    meets['bad'] = refused;
    await spool.append(opened('bad', 'a'), new Uint8Array(10));
    await drainFor(60);
    expect(dropped).toEqual(['bad refused', 'bad refused']);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('what breaks its contract is given up at once', async () => {
    meets['bad'] = () => new ContractViolation('KV openTurns', 'too large');
    await spool.append(continued('bad', 'a'), null);
    await drain.drain();
    expect(dropped).toEqual(['bad refused']);
    expect(spool.size).toBe(0);
  });

  it('an outage gives up nothing, however long it lasts', async () => {
    meets['waiting'] = () => new DependencyUnavailable('nats', 'not stored', 1, { cause: new Error('timeout') });
    await spool.append(opened('waiting', 'a'), new Uint8Array(10));
    await drainFor(3_600);
    expect(dropped).toEqual([]);
    delete meets['waiting'];
    await drainFor(31);
    expect(spool.size).toBe(0);
  });

  it('a connection that is lost costs no pause', async () => {
    meets['cut'] = () => {
      isConnected = false;
      return new DependencyUnavailable('nats', 'disconnected');
    };
    await spool.append(continued('cut', 'a'), null);
    await drain.drain();
    [isConnected, meets] = [true, {}];
    now += 250;
    await drain.drain();
    expect(attempts).toEqual(['cut', 'cut']);
    expect(spool.size).toBe(0);
  });

  it('what comes too early is handed over and holds up nobody', async () => {
    meets['early'] = () => 'early';
    await spool.append(continued('early', 'a'), null);
    await spool.append(continued('behind', 'a'), null);
    await drain.drain();
    expect(attempts).toEqual(['early', 'behind']);
    expect(handedOver).toEqual(['early']);
    expect(spool.size).toBe(0);
    expect(dropped).toEqual([]);
  });

  it('what an earlier process left is done in the order of its names', async () => {
    for (const id of ['1', '2', '3']) await spool.append(continued(id, 'a'), null);
    spool = startSpool();
    await spool.prepare();
    drain = startDrain();
    expect(idsOf(await spool.oldest(2))).toEqual(['1', '2']);
    expect(idsOf(await spool.oldest(2))).toEqual([]);
  });

  it('a flush goes on until all of it is done', async () => {
    let failures = 0;
    meets['slow'] = () => (failures++ === 0 ? new DependencyUnavailable('nats', 'slow') : 'done');
    for (const id of ['slow', 'behind']) await spool.append(continued(id, 'a'), null);
    drain = startDrain(Date.now);
    await drain.flush(60_000);
    expect(attempts).toEqual(['slow', 'slow', 'behind']);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('a flush does not wait for NATS, nor for ever', async () => {
    await spool.append(continued('kept', 'a'), null);
    drain = startDrain(Date.now);
    isConnected = false;
    await drain.flush(60_000);
    isConnected = true;
    meets['kept'] = () => new DependencyUnavailable('nats', 'slow');
    await drain.flush(100);
    expect(spool.size).toBe(1);
  });
});
