import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CurrentPolicy } from '@hindcast/contracts';
import type { Bus, Log } from '@hindcast/platform';
import { CanaryTrial } from './canary-trial';
import type { JudgedTurn } from './core/canary';
import { publishedVersion, versionFolder, type Manifest } from './core/manifest';
import { EngineClient } from './engine-client';
import { EnginePublisher } from './engine-publisher';
import type { Examination, Verdict } from './examination';
import { PolicyAnnouncer } from './policy-announcer';
import type { NextPolicy, PolicyBoard } from './policy-board';
import { Publication } from './publication';
import type { PublicationMetrics } from './publication-metrics';
import { FakeEngine } from './testing/fake-engine';
import { manifest } from './testing/fixtures';
import type { VersionStore } from './version-store';

// Publication over real engines' calls, with a folder, a board and a bus that are lists.

let folder = '';
let engine: FakeEngine;
let versions: Map<number, Manifest>;
let onBoard: CurrentPolicy | null;
let announced: string[];
let alarms: string[];
let verdict: Verdict;
let share: number;
let judged: JudgedTurn[];

const store = {
  folder: 'policies',
  all: () => [...versions.values()].sort((a, b) => a.version - b.version),
  get servedVersion(): number {
    return publishedVersion([...versions.values()]);
  },
  get(version: number): Manifest {
    const found = versions.get(version);
    if (!found) throw new RangeError(`there is no version ${version}`);
    return found;
  },
  folderOf: (version: number) => join(folder, versionFolder(version)),
  hasWeights: (version: number) => Promise.resolve(version !== 9),
  weightsOf: () => Promise.resolve(new Map()),
  numberAbove: () => Promise.resolve(false),
  settle(version: number, state: Manifest['state'], reason: string | null): Promise<Manifest> {
    versions.set(version, { ...store.get(version), state, reason });
    return Promise.resolve(store.get(version));
  },
};

function write(version: number, over: Partial<Manifest> = {}): void {
  mkdirSync(store.folderOf(version), { recursive: true });
  writeFileSync(join(store.folderOf(version), 'adapter_model.safetensors'), '');
  versions.set(version, manifest({ version, parent: version - 1, ...over }));
}

function publicationWith(refusalOf: (one: Manifest) => string | null = () => null): Publication {
  const client = { baseUrl: engine.baseUrl, dialect: 'vllm', apiKey: undefined, timeoutMs: 600_000 } as const;
  const publisher = new EnginePublisher([new EngineClient({ ...client, updateTimeoutMs: 600_000 })], store, 'lora');
  const board = {
    current: () => Promise.resolve(onBoard),
    announce(next: NextPolicy) {
      onBoard = { ...next, at: 1 };
      return Promise.resolve(true);
    },
  } as unknown as PolicyBoard;
  const bus = {
    publish: (_: string, { body }: { body: { version: number; state: string } }) => {
      announced.push(`${body.version} ${body.state}`);
      return Promise.resolve();
    },
  } as unknown as Bus;
  const metrics = {
    alarm: (name: string) => alarms.push(name),
    serving: () => undefined,
    drift: () => undefined,
    trial: () => undefined,
    engineUp: () => undefined,
  } as unknown as PublicationMetrics;
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined } as unknown as Log;
  const examination = {
    probe: () => Promise.resolve(verdict.passed ? null : verdict.reason),
    drift: () => Promise.resolve(verdict),
  } as unknown as Examination;
  const whole = store as unknown as VersionStore;
  const announcer = new PolicyAnnouncer({ store: whole, publisher, board, bus, log, metrics });
  const trial = new CanaryTrial({
    rule: { share, minTurns: 1, maxDrop: 0.5, maxWaitMs: 60_000 },
    judged: { from: () => Promise.resolve(judged) },
    publisher,
    announcer,
    metrics,
    servedVersion: () => store.servedVersion,
  });
  const parts = { store: whole, publisher, examination, trial, announcer, board, log, metrics, refusalOf };
  return new Publication({ ...parts, shutdown: new AbortController().signal, pollMs: 10 });
}
const states = (): string[] => store.all().map(({ version, state }) => `${version} ${state}`);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-publication-'));
  engine = await new FakeEngine().start();
  versions = new Map();
  onBoard = null;
  [announced, alarms, judged] = [[], [], []];
  share = 0;
  verdict = { passed: true, driftNats: null, isAlarming: false };
  for (const version of [1, 2, 3]) write(version);
  await publicationWith().reconcile();
});
afterEach(async () => {
  await engine.die();
  rmSync(folder, { recursive: true, force: true });
});

describe('a rollback', () => {
  it('loads the earlier version, settles what came after it, flips the board and tells the ledger', async () => {
    expect(onBoard).toMatchObject({ version: 3 });
    const publication = publicationWith();
    await publication.rollBack(1, 'a person asked');
    expect(states()).toEqual(['1 published', '2 rolled-back', '3 rolled-back']);
    expect(store.get(3).reason).toBe('a person asked');
    expect(onBoard).toMatchObject({ version: 1, adapter: 'hindcast-v000001', engines: [engine.baseUrl], canary: null });
    expect(announced).toEqual(['2 rolled-back', '3 rolled-back']);
    expect(alarms).toEqual(['rolled-back']);
    await publication.reconcile();
    expect([...engine.adapters.keys()]).toEqual(['hindcast-v000001']);
  });

  it('to the base model needs no adapter', async () => {
    await publicationWith().rollBack(0);
    expect(onBoard).toMatchObject({ version: 0, adapter: null });
    expect(states()).toEqual(['1 rolled-back', '2 rolled-back', '3 rolled-back']);
    expect(store.get(1).reason).toBe('rolled back to version 0');
  });

  it('changes nothing when no engine takes the version, and can be asked for again', async () => {
    await engine.die();
    const publication = publicationWith();
    await expect(publication.rollBack(1)).rejects.toMatchObject({ code: 'engine-unreachable' });
    expect(states()).toEqual(['1 published', '2 published', '3 published']);
    expect(onBoard).toMatchObject({ version: 3 });
    await engine.start();
    await publication.rollBack(1);
    await publication.rollBack(1);
    expect(onBoard).toMatchObject({ version: 1 });
  });

  it('that a crash cut short after its first record is completed by asking again', async () => {
    await store.settle(3, 'rolled-back', 'cut short');
    await publicationWith().rollBack(1);
    expect(states()).toEqual(['1 published', '2 rolled-back', '3 rolled-back']);
    expect(store.get(3).reason).toBe('cut short');
  });

  it.each([
    { why: 'it never served', prepare: () => write(4, { state: 'refused' }), version: 4 },
    { why: 'its weights are gone', prepare: () => write(9), version: 9 },
    { why: 'there is none', prepare: () => undefined, version: 77 },
  ])('is refused when $why', async ({ prepare, version }) => {
    prepare();
    await expect(publicationWith().rollBack(version)).rejects.toThrow(RangeError);
    expect(onBoard).toMatchObject({ version: 3 });
  });

  it('ends a trial, and what was trained from a version that is rolled back is never published', async () => {
    share = 0.5;
    write(4, { state: 'committed' });
    const publication = publicationWith();
    const publishing = publication.publish(store.get(4));
    while (onBoard?.canary?.version !== 4) await new Promise((resolve) => setImmediate(resolve));
    await publication.rollBack(2);
    await publishing;
    expect(states()).toEqual(['1 published', '2 published', '3 rolled-back', '4 rolled-back']);
    expect(onBoard).toMatchObject({ version: 2, canary: null });

    write(5, { state: 'committed', parent: 3 });
    await publication.publish(store.get(5));
    expect(store.get(5)).toMatchObject({
      state: 'rolled-back',
      reason: 'version 3, which it was trained from, was rolled back',
    });
    expect(engine.loads).not.toContain('hindcast-v000005');
  });
});

it('D59 a version of a run-away is refused before any engine loads it, and the old one serves on', async () => {
  write(4, { state: 'committed' });
  await publicationWith(() => 'run-away: KL to the base model 9.000 nats per token, the bound is 2').publish(
    store.get(4),
  );
  expect(store.get(4)).toMatchObject({ state: 'refused', reason: expect.stringContaining('run-away') });
  expect(engine.loads).not.toContain('hindcast-v000004');
  expect(onBoard).toMatchObject({ version: 3 });
  expect(announced).toEqual(['4 refused']);
  expect(alarms).toEqual(['refused']);
});

it('a version that fails its examination is not tried on anybody', async () => {
  share = 0.5;
  write(4, { state: 'committed' });
  verdict = { passed: false, driftNats: 9, reason: 'drift' };
  await publicationWith().publish(store.get(4));
  expect(store.get(4).state).toBe('refused');
  expect(onBoard).toMatchObject({ version: 3, canary: null });
  expect([...engine.adapters.keys()]).not.toContain('hindcast-v000004');
});

it('a trial that ends well promotes with the drift that was measured when it began', async () => {
  share = 0.5;
  write(4, { state: 'committed' });
  verdict = { passed: true, driftNats: 1.5, isAlarming: true };
  const turn = (policyVersion: number, turnId: string): JudgedTurn => ({
    policyVersion,
    turnId,
    evalScore: 1,
    isScored: true,
  });
  const publication = publicationWith();
  const publishing = publication.publish(store.get(4));
  while (onBoard?.canary?.version !== 4) await new Promise((resolve) => setImmediate(resolve));
  judged = [turn(3, 'a'), turn(4, 'b')];
  await publishing;
  expect(store.get(4).state).toBe('published');
  expect(onBoard).toMatchObject({ version: 4, canary: null });
  expect(alarms).toEqual(['drift']);
});
