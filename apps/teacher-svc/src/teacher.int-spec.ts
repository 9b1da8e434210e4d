import { startFakeEngine, type EngineScript, type FakeEngine } from './testing/fake-engine';
import { tokenize, vllmScore, sglangScore, type KnownModel } from './testing/scoring-wire';
import { logProbsOf, TeacherHarness } from './testing/teacher-harness';

const PROMPT = [5, 2, 11];
const HINTED = [5, 2, 11, 40, 41];
const RESPONSE = [7, 8, 4];
const TEACHER = [-0.5, -0.25, -0.125];
const captured = { promptIds: PROMPT, responseIds: RESPONSE };

const known: KnownModel = {
  promptIds: PROMPT,
  hintedIds: HINTED,
  logProb: (_, position) => TEACHER[position - HINTED.length] ?? -1,
};
const serve =
  (score: EngineScript = (call) => vllmScore(call, known)): EngineScript =>
  (call) =>
    call.path === '/tokenize' ? tokenize(call, known) : score(call);

let harness: TeacherHarness;
const engines: FakeEngine[] = [];
beforeAll(async () => (harness = await TeacherHarness.start()));
afterAll(() => harness.stop());
afterEach(async () => {
  await harness.closeService();
  await Promise.all(engines.splice(0).map((engine) => engine.stop()));
});

async function startEngine(script: EngineScript): Promise<FakeEngine> {
  const engine = await startFakeEngine(script);
  engines.push(engine);
  return engine;
}

async function start(script: EngineScript, env: Record<string, string> = {}): Promise<FakeEngine> {
  const engine = await startEngine(script);
  await harness.startService({ POLICY_BASE_URL: engine.baseUrl, ...env });
  return engine;
}

it('vllm: scores the sampled ids after the hinted prompt', async () => {
  const engine = await start(serve());
  expect(logProbsOf(await harness.score(captured))).toEqual(TEACHER);
  const [plain, , score] = engine.calls;
  expect(plain).toMatchObject({
    path: '/tokenize',
    authorization: 'Bearer k',
    body: { model: 'base', add_generation_prompt: true, chat_template_kwargs: { enable_thinking: false } },
  });
  expect(score).toMatchObject({
    path: '/v1/completions',
    body: { model: 'base', prompt: [...HINTED, ...RESPONSE], prompt_logprobs: 0, max_tokens: 1 },
  });
});

it('sglang: asks from the hinted prompt’s last id on and drops that entry', async () => {
  const engine = await start(
    serve((call) => sglangScore(call, known)),
    { TEACHER_DIALECT: 'sglang' },
  );
  expect(logProbsOf(await harness.score(captured))).toEqual(TEACHER);
  expect(engine.calls.at(-1)).toMatchObject({
    path: '/generate',
    body: { logprob_start_len: HINTED.length - 1, input_ids: [...HINTED, ...RESPONSE] },
  });
});

it('asks nothing about the vocabulary of the policy’s own engine and model', async () => {
  const engine = await start(serve(), { TEACHER_RECHECK_EVERY: '0' });
  await harness.score(captured);
  expect(engine.calls.map(({ path }) => path)).toEqual(['/tokenize', '/tokenize', '/v1/completions']);
  expect(engine.calls.every(({ body }) => !('prompt' in body) || Array.isArray(body['prompt']))).toBe(true);
});

it.each([
  { name: 'differ by rounding', change: 1e-3, alarms: 0 },
  { name: 'differ by a whole nat', change: 1, alarms: 1 },
])('D28: two scorings of the same ids that $name raise $alarms alarms; the turn keeps its teacher', async (row) => {
  let scorings = 0;
  await start(
    serve((call) => {
      const change = scorings++ === 0 ? 0 : row.change;
      return vllmScore(call, { ...known, logProb: (ids, position) => known.logProb(ids, position) - change });
    }),
    { TEACHER_RECHECK_EVERY: '2' },
  );
  expect(logProbsOf(await harness.score(captured))).toEqual(TEACHER);
  await harness.score(captured);
  expect(scorings).toBe(3);
  expect(await harness.metric('teacher_alarms_total', 'kind="not-repeatable"')).toBe(row.alarms);
});

it('a capture that is gone: no teacher', async () => {
  await start(serve());
  expect(await harness.score(null)).toMatchObject({ ok: false, reason: 'capture-missing' });
});

it('says how far the teacher is from the rollout, and how much it read', async () => {
  await start(serve());
  await harness.score({ ...captured, rolloutLogProbs: [-1, -1, -1] });
  expect(await harness.metric('teacher_gap_nats_sum')).toBeCloseTo((0.5 + 0.75 + 0.875) / 3, 6);
  expect(await harness.metric('teacher_tokens_total', 'kind="prompt"')).toBe(5);
  expect(await harness.metric('teacher_tokens_total', 'kind="response"')).toBe(3);
});

it.each([503, 500, 429, 401])(
  'an engine that answers %i for a while is waited for; nothing is lost',
  async (status) => {
    let failures = 6;
    await start((call) => (call.path === '/tokenize' && failures-- > 0 ? { status, json: {} } : serve()(call)));
    expect(await harness.score(captured)).toMatchObject({ ok: true });
  },
);

it('a turn that the engine fails on while it scores others is given up', async () => {
  const poison = [66, 66];
  await start(
    serve((call) =>
      (call.body['prompt'] as number[]).includes(66) ? { status: 500, json: {} } : vllmScore(call, known),
    ),
  );
  const poisoned = await harness.publish({ ...captured, responseIds: poison });
  // Nobody else is scored yet: it might be the engine.
  while ((await harness.metric('teacher_turns_total', 'result="waited"')) < 6) await harness.readiness();
  await harness.score(captured);
  expect(await harness.result(poisoned)).toMatchObject({ ok: false, reason: 'refused-by-engine' });
});

it('a top-K that NATS cannot take is left out; the teacher stays', async () => {
  const small = await TeacherHarness.start({ maxPayload: 64 * 1024 });
  const responseIds = Array.from({ length: 1_030 }, (_, i) => 100 + i);
  const wide: KnownModel = {
    ...known,
    maxModelLength: 10_000,
    logProb: () => -1,
    ranked: (ids, position) => [[ids[position]!, -1], ...Array.from({ length: 7 }, (_, i) => [i + 9_000, -9] as const)],
  };
  const engine = await startEngine((call) =>
    call.path === '/tokenize' ? tokenize(call, wide) : vllmScore(call, wide),
  );
  try {
    await small.startService({ POLICY_BASE_URL: engine.baseUrl, TEACHER_TOP_K: '8' });
    const turnId = await small.publish({ promptIds: PROMPT, responseIds });
    expect(await small.result(turnId)).toMatchObject({ ok: true, topK: null });
    expect(await small.topKOf(turnId)).toBeNull();
    expect(await small.metric('teacher_top_k_too_large_total')).toBe(1);
  } finally {
    await small.stop();
  }
});

describe('several engines', () => {
  it('another one scores where one is away, and both where both are there', async () => {
    const first = await startEngine(() => ({ status: 503, json: {} }));
    const second = await startEngine(serve());
    await harness.startService({ POLICY_BASE_URL: `${first.baseUrl},${second.baseUrl}` });
    expect(await harness.score(captured)).toMatchObject({ ok: true });
    expect(second.calls.length).toBeGreaterThan(0);
    expect((await harness.readiness()).degraded).toEqual([`teacher: ${first.baseUrl} is away`]);
  });

  it('turns go to the one that scores fewer', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const first = await startEngine(async (call) => {
      await held;
      return serve()(call);
    });
    const second = await startEngine(serve());
    await harness.startService({ POLICY_BASE_URL: `${first.baseUrl},${second.baseUrl}` });
    const waiting = await harness.publish(captured);
    try {
      while (first.calls.length === 0) await harness.readiness();
      await harness.score(captured);
      await harness.score(captured);
      expect(second.calls.filter(({ path }) => path === '/v1/completions').length).toBeGreaterThanOrEqual(2);
    } finally {
      release();
    }
    expect(await harness.result(waiting)).toMatchObject({ ok: true });
  });
});

it('scores as many turns at once as TEACHER_CONCURRENCY says, and no more', async () => {
  let running = 0;
  let most = 0;
  let release = (): void => undefined;
  const full = new Promise<void>((resolve) => (release = resolve));
  await start(
    serve(async (call) => {
      most = Math.max(most, ++running);
      if (running === 3) release();
      await full;
      // A fourth one would come in the meantime.
      await harness.readiness();
      running--;
      return vllmScore(call, known);
    }),
    { TEACHER_CONCURRENCY: '3', TEACHER_RECHECK_EVERY: '0' },
  );
  const turns = await Promise.all(Array.from({ length: 9 }, () => harness.publish(captured)));
  for (const turn of turns) expect(await harness.result(turn)).toMatchObject({ ok: true });
  expect(most).toBe(3);
});
