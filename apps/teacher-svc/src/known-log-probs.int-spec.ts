import { readModelConfig, readModelWeights } from '@hindcast/language-model';
import { SEED_DIR, trainerLogProbs } from '../../engine/src/testing/models';
import { post, startEngine, type RunningEngine } from '../../engine/src/testing/running-engine';
import { hintedMessages } from './core/hinted-messages';
import { startFakeEngine, type EngineCall, type FakeEngine } from './testing/fake-engine';
import { sglangScore, tokenize, vllmScore, type KnownModel } from './testing/scoring-wire';
import { HINT, logProbsOf, TeacherHarness } from './testing/teacher-harness';

const PROMPT = [5, 2, 11];
const HINTED = [5, 2, 11, 40, 41];
const RESPONSE = [7, 8, 4, 100_000];
/** Float32s, as engines have them: short and long ones, one below 1e-4, one that prints with an exponent. */
const KNOWN = [-0.5, -2.3841855067985307e-7, -11.765625, -0.00007295342].map(Math.fround);

const known: KnownModel = {
  promptIds: PROMPT,
  hintedIds: HINTED,
  logProb: (_, position) => KNOWN[position - HINTED.length] ?? -1,
  ranked: (ids, position) =>
    position === HINTED.length + 2
      ? [
          [900, -0.125],
          [901, -1.25],
          [902, -1.25],
        ]
      : [
          [ids[position]!, KNOWN[position - HINTED.length] ?? -1],
          [12, -12.5],
          [13, -13.5],
        ],
};
const TOP = {
  ids: [7, 12, 8, 12, 900, 901, 100_000, 12],
  logProbs: [KNOWN[0], -12.5, KNOWN[1], -12.5, -0.125, -1.25, KNOWN[3], -12.5],
};

let harness: TeacherHarness;
beforeAll(async () => (harness = await TeacherHarness.start()));
afterAll(() => harness.stop());
afterEach(() => harness.closeService());

/** Equal to 1e-6, of larger numbers relative: a float32 of 4 nats has steps of 5e-7. */
function expectEqual(values: readonly number[], expected: readonly number[]): void {
  expect(values).toHaveLength(expected.length);
  values.forEach((value, t) => {
    const tolerance = 1e-6 * Math.max(1, Math.abs(expected[t]!));
    expect(Math.abs(value - expected[t]!)).toBeLessThanOrEqual(tolerance);
  });
}

describe.each([
  { dialect: 'vllm', score: vllmScore, path: '/v1/completions' },
  { dialect: 'sglang', score: sglangScore, path: '/generate' },
])('D25: a $dialect server with known log-probs', ({ dialect, score, path }) => {
  let engine: FakeEngine;
  const answer = (call: EngineCall) => (call.path === '/tokenize' ? tokenize(call, known) : score(call, known));
  beforeEach(async () => (engine = await startFakeEngine(answer)));
  afterEach(() => engine.stop());

  it('gives the teacher’s vector to 1e-6, first token included', async () => {
    await harness.startService({ POLICY_BASE_URL: engine.baseUrl, POLICY_DIALECT: dialect });
    const teacher = await harness.score({ promptIds: PROMPT, responseIds: RESPONSE });
    expect(teacher).toMatchObject({ ok: true, model: 'base', topK: null });
    expectEqual(logProbsOf(teacher), KNOWN);
    expect(engine.calls.filter((call) => call.path === path)).toHaveLength(2);
  });

  it('keeps exactly K likely ids of each position under the turn id, stored before the turn is scored', async () => {
    await harness.startService({ POLICY_BASE_URL: engine.baseUrl, POLICY_DIALECT: dialect, TEACHER_TOP_K: '2' });
    const turnId = await harness.publish({ promptIds: PROMPT, responseIds: RESPONSE });
    const teacher = await harness.result(turnId);
    expect(teacher).toMatchObject({ ok: true, topK: 2 });
    expectEqual(logProbsOf(teacher), KNOWN);
    const topK = await harness.topKOf(turnId);
    expect(topK).toMatchObject({ k: 2 });
    expect([...topK!.ids]).toEqual(TOP.ids);
    expectEqual([...topK!.logProbs], TOP.logProbs as number[]);
  });
});

describe('the embedded engine', () => {
  const messages = [{ role: 'user', content: 'What is rain?' }];
  let engine: RunningEngine;
  beforeAll(async () => (engine = await startEngine()));
  afterAll(() => engine.close());

  const chat = async (conversation: readonly object[]) =>
    (
      await post(`${engine.url}/v1/chat/completions`, {
        messages: conversation,
        max_tokens: 40,
        temperature: 1,
        seed: 3,
        logprobs: true,
        return_token_ids: true,
      })
    ).body;

  it('D25: gives what it sampled with under the hint, and what another forward pass of the weights gives', async () => {
    await harness.startService({ POLICY_BASE_URL: `${engine.url}/v1`, POLICY_MODEL: 'seed', TEACHER_TOP_K: '3' });
    // An answer that was sampled under the hinted conversation has the teacher's own rollout log-probs.
    const sampled = await chat(hintedMessages(messages, HINT));
    const responseIds = sampled.choices[0].token_ids as number[];
    const rollout = sampled.choices[0].logprobs.content.map(({ logprob }: { logprob: number }) => logprob) as number[];
    const { prompt_token_ids: promptIds } = await chat(messages);
    const turnId = await harness.publish({ promptIds, responseIds, messages });
    const teacher = await harness.result(turnId);
    expectEqual(logProbsOf(teacher), rollout);

    const config = await readModelConfig(SEED_DIR);
    const ids = [...(sampled.prompt_token_ids as number[]), ...responseIds];
    const other = await trainerLogProbs(config, await readModelWeights(SEED_DIR, config), ids);
    const independent = other.slice(-responseIds.length);
    // Kernels of another library add up in another order.
    logProbsOf(teacher).forEach((value, t) => expect(Math.abs(value - independent[t]!)).toBeLessThan(1e-5));

    const topK = (await harness.topKOf(turnId))!;
    expect(topK.ids).toHaveLength(3 * responseIds.length);
    responseIds.forEach((id, t) => {
      const row = [...topK.logProbs.subarray(3 * t, 3 * t + 3)];
      expect(row).toEqual([...row].sort((a, b) => b - a));
      const at = topK.ids.subarray(3 * t, 3 * t + 3).indexOf(id);
      if (at >= 0) expect(row[at]).toBe(logProbsOf(teacher)[t]);
      else expect(row[2]).toBeGreaterThanOrEqual(logProbsOf(teacher)[t]!);
    });
  });
});
