import { startFakeEngine, type EngineCall, type EngineScript, type FakeEngine } from './testing/fake-engine';
import { tokenize, vllmScore, type KnownModel } from './testing/scoring-wire';
import { logProbsOf, TeacherHarness } from './testing/teacher-harness';

const captured = { promptIds: [5, 2, 11], responseIds: [7, 8] };
const known: KnownModel = { promptIds: [5, 2, 11], hintedIds: [5, 2, 11, 40], logProb: (_, position) => -position };

/** A server that counts UTF-8 bytes from a first id on: another first id is another vocabulary. */
const server =
  (firstId: number): EngineScript =>
  (call) => {
    if (call.path === '/v1/completions') return vllmScore(call, known);
    if (!isProbe(call)) return tokenize(call, known);
    const tokens = [...Buffer.from(String(call.body['prompt']))].map((byte) => firstId + byte);
    return { json: { count: tokens.length, max_model_len: 512, tokens, token_strs: null } };
  };
const isProbe = (call: EngineCall): boolean => call.path === '/tokenize' && 'prompt' in call.body;
const probesOf = (engine: FakeEngine): EngineCall[] => engine.calls.filter(isProbe);

let harness: TeacherHarness;
const engines: FakeEngine[] = [];
beforeAll(async () => (harness = await TeacherHarness.start()));
afterAll(() => harness.stop());
afterEach(async () => {
  await harness.closeService();
  await Promise.all(engines.splice(0).map((engine) => engine.stop()));
});

async function startEngine(script: EngineScript, port = 0): Promise<FakeEngine> {
  const engine = await startFakeEngine(script, port);
  engines.push(engine);
  return engine;
}

it('another server with the policy’s vocabulary scores; both were asked for the ids of the same texts', async () => {
  const policy = await startEngine(server(10));
  const teacher = await startEngine(server(10));
  await harness.startService({
    POLICY_BASE_URL: policy.baseUrl,
    TEACHER_BASE_URL: teacher.baseUrl,
    TEACHER_MODEL: 'big',
    TEACHER_API_KEY: 't',
  });
  const result = await harness.score(captured);
  expect(result).toMatchObject({ ok: true, model: 'big' });
  expect(logProbsOf(result)).toEqual([-4, -5]);
  expect(probesOf(policy).map(({ body }) => body['prompt'])).toEqual(
    probesOf(teacher).map(({ body }) => body['prompt']),
  );
  expect(probesOf(policy)[0]).toMatchObject({ authorization: 'Bearer k', body: { model: 'base' } });
  expect(probesOf(teacher)[0]).toMatchObject({ authorization: 'Bearer t', body: { model: 'big' } });
  expect(policy.calls).toHaveLength(probesOf(policy).length);
  expect((await harness.readiness()).degraded).toEqual([]);
});

it('a server with another vocabulary gives no turn a teacher, and everybody is told', async () => {
  const policy = await startEngine(server(10));
  const teacher = await startEngine(server(11));
  await harness.startService({ POLICY_BASE_URL: policy.baseUrl, TEACHER_BASE_URL: teacher.baseUrl });
  for (let turn = 0; turn < 2; turn++) {
    expect(await harness.score(captured)).toMatchObject({
      ok: false,
      reason: 'vocabulary-mismatch',
      detail: expect.stringContaining('"english"') as string,
    });
  }
  expect(teacher.calls.every(isProbe)).toBe(true);
  expect(await harness.metric('teacher_vocabulary_mismatch')).toBe(1);
  const { ready, degraded } = await harness.readiness();
  expect(ready).toBe(true);
  expect(degraded).toEqual([expect.stringContaining('another vocabulary than the policy')]);
});

it('of two teachers the one with the policy’s vocabulary scores', async () => {
  const policy = await startEngine(server(10));
  const foreign = await startEngine(server(11));
  const fitting = await startEngine(server(10));
  await harness.startService({
    POLICY_BASE_URL: policy.baseUrl,
    TEACHER_BASE_URL: `${foreign.baseUrl},${fitting.baseUrl}`,
  });
  for (let turn = 0; turn < 3; turn++) expect(await harness.score(captured)).toMatchObject({ ok: true });
  expect(foreign.calls.every(isProbe)).toBe(true);
});

it('a teacher that is away at the start is waited for, and compared when it comes', async () => {
  const policy = await startEngine(server(10));
  const gone = await startEngine(server(10));
  const port = Number(new URL(gone.baseUrl).port);
  await gone.stop();
  await harness.startService({ POLICY_BASE_URL: policy.baseUrl, TEACHER_BASE_URL: gone.baseUrl });
  const turn = await harness.publish(captured);
  while (!(await harness.readiness()).degraded.includes(`teacher: ${gone.baseUrl} is away`)) continue;
  await startEngine(server(10), port);
  expect(await harness.result(turn)).toMatchObject({ ok: true });
});

it('a teacher that comes back with another vocabulary is found out', async () => {
  const policy = await startEngine(server(10));
  const teacher = await startEngine(server(10));
  await harness.startService({ POLICY_BASE_URL: policy.baseUrl, TEACHER_BASE_URL: teacher.baseUrl });
  expect(await harness.score(captured)).toMatchObject({ ok: true });
  let failures = 2;
  teacher.script = (call) => (failures-- > 0 ? { status: 503, json: {} } : server(11)(call));
  expect(await harness.score(captured)).toMatchObject({ ok: false, reason: 'vocabulary-mismatch' });
});

it('a policy engine that tells nobody its ids: the teacher scores, and the service says what it does not know', async () => {
  const policy = await startEngine(() => ({ status: 404, json: { detail: 'Not Found' } }));
  const teacher = await startEngine(server(10));
  await harness.startService({
    POLICY_BASE_URL: policy.baseUrl,
    POLICY_DIALECT: 'openai',
    TEACHER_BASE_URL: teacher.baseUrl,
    TEACHER_DIALECT: 'vllm',
  });
  expect(await harness.score(captured)).toMatchObject({ ok: true });
  expect((await harness.readiness()).degraded).toEqual([expect.stringContaining('vocabulary not compared')]);
  // Its turns are compared all the same, one by one.
  expect(await harness.score({ ...captured, promptIds: [5, 2] })).toMatchObject({
    ok: false,
    reason: 'template-mismatch',
  });
});
