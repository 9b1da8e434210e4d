import type { CurrentPolicy } from '@hindcast/contracts';
import { startFakeEngine, type EngineCall, type EngineScript, type FakeEngine } from './testing/fake-engine';
import { sglangScore, tokenize, vllmScore, type KnownModel } from './testing/scoring-wire';
import { TeacherHarness } from './testing/teacher-harness';

const captured = { promptIds: [5, 2, 11], responseIds: [7, 8] };
const known: KnownModel = { promptIds: [5, 2, 11], hintedIds: [5, 2, 11, 40], logProb: () => -1 };
const V3 = 'hindcast-v000003';
const V4 = 'hindcast-v000004';

let harness: TeacherHarness;
let engine: FakeEngine;
const others: FakeEngine[] = [];
/** Adapters that the engine has loaded. */
let loaded: string[];
beforeAll(async () => (harness = await TeacherHarness.start()));
afterAll(() => harness.stop());
beforeEach(async () => {
  loaded = [];
  engine = await startFakeEngine(vllm);
});
afterEach(async () => {
  await (await harness.buckets.open('policy')).purge('current');
  await harness.closeService();
  await Promise.all(others.splice(0).map((other) => other.stop()));
  await engine.stop();
});

const vllm: EngineScript = (call) => {
  if (call.path === '/v1/models') return models(loaded);
  const model = String(call.body['model']);
  if (model !== 'base' && !loaded.includes(model))
    return {
      status: 404,
      json: {
        error: { message: `The model \`${model}\` does not exist.`, type: 'NotFoundError', param: 'model', code: 404 },
      },
    };
  return call.path === '/tokenize' ? tokenize(call, known) : vllmScore(call, known);
};
const sglang: EngineScript = (call) => {
  if (call.path === '/v1/models') return models(loaded.map((name) => `base:${name}`));
  const adapter = call.body['lora_path'];
  if (typeof adapter === 'string' && !loaded.includes(adapter))
    return {
      status: 400,
      json: {
        error: {
          message: `The following requested LoRA adapters are not loaded: ${adapter}\nLoaded adapters: dict_keys([]).`,
        },
      },
    };
  return call.path === '/tokenize' ? tokenize(call, known) : sglangScore(call, known);
};
const models = (names: readonly string[]) => ({
  json: { object: 'list', data: ['base', ...names].map((id) => ({ id })) },
});

async function publishPolicy(version: number, adapter: string | null): Promise<void> {
  const policy: CurrentPolicy = { version, adapter, engines: [engine.baseUrl], weights: 'named', canary: null, at: 1 };
  await (await harness.buckets.open('policy')).put('current', JSON.stringify(policy));
}
const start = (env: Record<string, string> = {}): Promise<void> =>
  harness.startService({ POLICY_BASE_URL: engine.baseUrl, TEACHER_MODEL: 'current', ...env });
const scorings = (): EngineCall[] => engine.calls.filter(({ path }) => path !== '/tokenize' && path !== '/v1/models');

it('before any step the base model scores', async () => {
  await start();
  expect(await harness.score(captured)).toMatchObject({ ok: true, model: 'base' });
});

it('the version that serves scores, and its successor from the moment it serves', async () => {
  loaded = [V3, V4];
  await start();
  await publishPolicy(3, V3);
  await scoredBy(V3);
  await publishPolicy(4, V4);
  await scoredBy(V4);
  // The tokenizer is the base model's, whatever the version.
  expect(engine.calls.filter(({ path }) => path === '/tokenize').every(({ body }) => body['model'] === 'base')).toBe(
    true,
  );
});

/** The watch needs a moment to bring a new version. */
async function scoredBy(model: string): Promise<void> {
  for (;;) {
    const result = await harness.score(captured);
    expect(result).toMatchObject({ ok: true });
    if (result.model === model) return;
  }
}

it.each([
  { dialect: 'vllm', script: vllm },
  { dialect: 'sglang', script: sglang },
])(
  '$dialect: an engine without the version scores with its newest, else the base model; what scored is said',
  async ({ dialect, script }) => {
    engine.script = script;
    loaded = [V4];
    await start({ POLICY_DIALECT: dialect });
    await publishPolicy(4, V4);
    await scoredBy(V4);
    loaded = [V3];
    expect(await harness.score(captured)).toMatchObject({ ok: true, model: V3 });
    loaded = [];
    expect(await harness.score(captured)).toMatchObject({ ok: true, model: 'base' });
    expect(await harness.metric('teacher_alarms_total', 'kind="adapter-missing"')).toBe(2);
    if (dialect === 'sglang') expect(scorings().at(-1)!.body).not.toHaveProperty('lora_path');
  },
);

it('sglang: another refusal than of the version is one', async () => {
  loaded = [V4];
  engine.script = (call) =>
    call.path === '/generate'
      ? { status: 400, json: { error: { message: 'top_logprobs_num must be positive' } } }
      : sglang(call);
  await start({ POLICY_DIALECT: 'sglang' });
  await publishPolicy(4, V4);
  let result = await harness.score(captured);
  while (!scorings().some(({ body }) => body['lora_path'] === V4)) result = await harness.score(captured);
  expect(result).toMatchObject({ ok: false, reason: 'refused-by-engine' });
});

it('engines that hold the version go first', async () => {
  loaded = [V4];
  const other = await startFakeEngine(vllm);
  others.push(other);
  await harness.startService({ POLICY_BASE_URL: `${other.baseUrl},${engine.baseUrl}`, TEACHER_MODEL: 'current' });
  await publishPolicy(4, V4);
  await scoredBy(V4);
  const scored = (): number => other.calls.filter(({ path }) => path !== '/v1/models').length;
  const before = scored();
  for (let turn = 0; turn < 3; turn++) expect(await harness.score(captured)).toMatchObject({ model: V4 });
  expect(scored()).toBe(before);
});
