import { buckets, encodeLogProbs, encodeTopK } from '@hindcast/contracts';
import type { RunningService } from '@hindcast/platform';
import { Kvm } from '@nats-io/kv';
import { connect } from '@nats-io/transport-node';
import { until } from '../../../libs/platform/src/testing/until';
import type { StepRecord } from './core/step-record';
import { startTrainer } from './service';
import { Bench } from './testing/bench';
import { SHORT_TIMING } from './testing/timing';

const bench = new Bench();
let service: RunningService;

beforeEach(async () => {
  await bench.start();
});
afterEach(async () => {
  await service.close();
  await bench.stop();
});

const taught = { case: 'opd' as const, reward: 0 as const, evalScore: 0 as const, teacherModel: 'seed', topK: 2 };
const teacherLogProbs = encodeLogProbs([-9, -10, -11]);

async function store(turnId: string, value: Uint8Array): Promise<void> {
  const connection = await connect({ servers: bench.nats.url });
  await (await new Kvm(connection).create(buckets.topK)).put(turnId, value);
  await connection.close();
}

async function start(env: Record<string, string>): Promise<void> {
  service = await startTrainer(bench.config(env), { timing: SHORT_TIMING, announce: () => undefined });
  await bench.serves(0);
}

const metric = async (line: RegExp): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${service.port}/metrics`)).text();
  return Number(line.exec(text)?.[1] ?? 0);
};

it("a batch is trained towards the teacher's top-K; what has none, or none that fits, is trained without and counted", async () => {
  await start({ TOP_K_COEF: '1', BATCH_SIZE: '4', BATCH_MIN: '4' });
  const ids = Int32Array.of(70, 80, 71, 81, 4, 82);
  const logProbs = Float32Array.from([0.5, 0.25, 0.5, 0.25, 0.5, 0.25], Math.log);
  // Stored before they are announced, as the teacher does.
  const turns = ['1', '2', '3', '4'].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
  await store(turns[0]!, encodeTopK({ k: 2, ids, logProbs }));
  await store(turns[1]!, Uint8Array.of(1, 2, 3));
  await store(turns[2]!, encodeTopK({ k: 2, ids: ids.slice(2), logProbs: logProbs.slice(2) }));
  for (const turnId of turns) await bench.publish({ ...taught, teacherLogProbs }, turnId);
  await bench.serves(1);
  const [manifest] = bench.manifests();
  expect(manifest!.turnIds).toEqual(turns);
  expect(manifest!.metrics['loss/top_k']).toBeGreaterThan(0.1);
  // Only the top-K pulls: every teacher log-prob is the rollout's.
  expect(manifest!.metrics['loss/policy']).toBeCloseTo(0, 6);
  expect(manifest!.metrics['grad_norm']).toBeGreaterThan(0);
  for (const reason of ['absent', 'unreadable', 'unfit'])
    expect(await metric(new RegExp(`trainer_top_k_missing_total\\{[^}]*reason="${reason}"[^}]*\\} (\\d+)`))).toBe(1);
  expect((bench.json('v000001', 'step.json') as StepRecord).samples).toHaveLength(4);
});

it('without TOP_K_COEF nobody looks for it', async () => {
  await start({});
  await bench.publish({ ...taught, teacherLogProbs });
  await bench.publish();
  await bench.serves(1);
  await until(() => bench.manifests()[0]?.state === 'published');
  expect(bench.manifests()[0]!.metrics['loss/top_k']).toBeUndefined();
  expect(await metric(/trainer_top_k_missing_total\{[^}]*\} (\d+)/)).toBe(0);
});
