import { startFakeEngine, type EngineCall, type EngineScript, type FakeEngine } from './testing/fake-engine';
import { tokenize, vllmScore, sglangScore, type KnownModel } from './testing/scoring-wire';
import { TeacherHarness } from './testing/teacher-harness';

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

const bad = (logProb: number): KnownModel => ({ ...known, logProb: (_, position) => (position === 6 ? logProb : -1) });
const replaced = (call: EngineCall, what: string | RegExp, by: string) => ({
  text: vllmScore(call, known).text!.replace(what, by),
});
const error = (message: string, status = 400) => ({
  status,
  json: { error: { message, type: 'BadRequestError', param: null, code: status } },
});

it.each<{ name: string; script: EngineScript; reason: string; env?: Record<string, string> }>([
  {
    name: 'a template that gives other prompt ids',
    script: () => ({ json: { tokens: [1, 2, 3] } }),
    reason: 'template-mismatch',
  },
  {
    name: 'D24: a missing log-prob',
    script: serve((call) => replaced(call, '"logprob":-0.25', '"logprob":null')),
    reason: 'non-finite',
  },
  {
    name: 'D24: NaN, as Python writes it',
    script: serve((call) => replaced(call, '"logprob":-0.25', '"logprob":NaN')),
    reason: 'non-finite',
  },
  {
    name: 'D24: −Infinity, as Python writes it',
    script: serve((call) => replaced(call, '"logprob":-0.25', '"logprob":-Infinity')),
    reason: 'non-finite',
  },
  { name: 'D23: −∞ as −9999', script: serve((call) => vllmScore(call, bad(-Infinity))), reason: 'non-finite' },
  { name: 'a positive log-prob', script: serve((call) => vllmScore(call, bad(0.5))), reason: 'non-finite' },
  {
    name: 'D24: null of an SGLang server',
    script: serve((call) => sglangScore(call, bad(NaN))),
    env: { POLICY_DIALECT: 'sglang' },
    reason: 'non-finite',
  },
  {
    name: 'scores of other ids',
    script: serve((call) => vllmScore({ ...call, body: { ...call.body, prompt: [...HINTED, 7, 9, 4] } }, known)),
    reason: 'ids-mismatch',
  },
  {
    name: 'D30: scores under another prompt',
    script: serve((call) =>
      vllmScore({ ...call, body: { ...call.body, prompt: [5, 2, 11, 40, 42, ...RESPONSE] } }, known),
    ),
    reason: 'ids-mismatch',
  },
  {
    name: 'D25: a list that begins one too late',
    script: serve((call) => sglangScore({ ...call, body: { ...call.body, logprob_start_len: HINTED.length } }, known)),
    env: { POLICY_DIALECT: 'sglang' },
    reason: 'length-mismatch',
  },
  {
    name: 'a list that is too short',
    script: serve((call) => vllmScore({ ...call, body: { ...call.body, prompt: [...HINTED, 7, 8] } }, known)),
    reason: 'length-mismatch',
  },
  {
    name: 'too few of the likeliest ids',
    script: serve((call) => vllmScore({ ...call, body: { ...call.body, prompt_logprobs: 1 } }, known)),
    env: { TEACHER_TOP_K: '2' },
    reason: 'length-mismatch',
  },
  {
    name: 'an engine that says so: prompt and answer do not fit',
    script: serve(() =>
      error("This model's maximum context length is 7 tokens. However, your request has 8 input tokens."),
    ),
    reason: 'too-long',
  },
  {
    name: 'a request that the engine refuses',
    script: serve(() => error('Requested prompt logprobs of 9, which is greater than max allowed: 5')),
    reason: 'refused-by-engine',
  },
  {
    name: 'a model that the engine does not have',
    script: serve(() => error('The model `base` does not exist.', 404)),
    reason: 'refused-by-engine',
  },
  { name: 'an answer of another shape', script: serve(() => ({ json: [] })), reason: 'refused-by-engine' },
])('$name: no teacher, and the reason is said: $reason', async ({ script, reason, env }) => {
  await start(script, env);
  expect(await harness.score(captured)).toMatchObject({ ok: false, model: 'base', reason });
  expect(await harness.metric('teacher_turns_total', `result="${reason}"`)).toBe(1);
});

it.each([
  { positions: 9, ok: true, why: 'one position is left for the token that the engine generates' },
  { positions: 8, ok: false, why: 'none is left' },
])('5 hinted ids and 3 sampled ones in $positions positions: teacher $ok, $why', async ({ positions, ok }) => {
  const engine = await start(
    (call) =>
      call.path === '/tokenize' ? tokenize(call, { ...known, maxModelLength: positions }) : vllmScore(call, known),
    { TEACHER_RECHECK_EVERY: '0' },
  );
  expect(await harness.score(captured)).toMatchObject(ok ? { ok } : { ok, reason: 'too-long' });
  // What cannot fit is not asked.
  expect(engine.calls.filter(({ path }) => path === '/v1/completions')).toHaveLength(ok ? 1 : 0);
});
