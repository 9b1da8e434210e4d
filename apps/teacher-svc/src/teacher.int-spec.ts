import { randomUUID } from 'node:crypto';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import {
  contracts,
  decodeLogProbs,
  encodeCapture,
  messageSchema,
  type BodyOf,
  type Capture,
  type MessageOf,
} from '@hindcast/contracts';
import { Buckets, parseConfig, startService, type RunningService } from '@hindcast/platform';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { until } from '../../../libs/platform/src/testing/until';
import { AppModule } from './app.module';
import { TeacherConfig } from './config';
import { HINT_TAG } from './core/hinted-messages';
import { startFakeEngine, type EngineCall } from './testing/fake-engine';

const HINT = 'answer in kilometres';
const PROMPT = [5, 2, 11];
const HINTED = [5, 2, 11, 40, 41];
const RESPONSE = [7, 8, 4];
const TEACHER = [-0.5, -0.25, -0.125];

let nats: NatsServer;
let connection: NatsConnection;
let service: RunningService | undefined;
let engine: Awaited<ReturnType<typeof startFakeEngine>>;

beforeAll(async () => {
  nats = await startNatsServer();
  connection = await connect({ servers: nats.url });
});
afterAll(async () => {
  await connection.close();
  await nats.stop();
});
afterEach(async () => {
  await service?.close();
  await engine.stop();
});

const isHinted = (call: EngineCall): boolean => JSON.stringify(call.body['messages']).includes(HINT_TAG.slice(0, 10));
const tokenize = (call: EngineCall) => ({
  json: { count: 3, max_model_len: 512, tokens: isHinted(call) ? HINTED : PROMPT, token_strs: null },
});
const entry = (id: number, logprob: number | null) => ({ [id]: { logprob, rank: 1, decoded_token: 'x' } });
const vllmScore = (logProbs: readonly (number | null)[]) => ({
  json: {
    id: 'cmpl-1',
    object: 'text_completion',
    choices: [
      {
        index: 0,
        text: '.',
        finish_reason: 'length',
        prompt_logprobs: [
          null,
          ...HINTED.slice(1).map((id) => entry(id, -1)),
          ...RESPONSE.map((id, t) => entry(id, logProbs[t]!)),
        ],
      },
    ],
  },
});

async function start(
  script: (call: EngineCall) => { status?: number; json: unknown },
  env: Record<string, string> = {},
): Promise<void> {
  engine = await startFakeEngine(script);
  const config = parseConfig('teacher-svc', TeacherConfig, {
    PORT: '0',
    NATS_URL: nats.url,
    LOG_LEVEL: 'silent',
    POLICY_BASE_URL: engine.baseUrl,
    POLICY_MODEL: 'base',
    POLICY_API_KEY: 'k',
    ...env,
  });
  service = await startService({
    app: 'teacher-svc',
    config,
    module: AppModule,
    announce: () => undefined,
    timing: { retryBaseMs: 20, retryMaxMs: 50, waitMaxMs: 50 },
  });
}

function capture(turnId: string): Capture {
  return {
    header: {
      turnId,
      tenant: 'acme',
      sessionId: null,
      responseId: 'r1',
      model: 'base',
      policyVersion: 0,
      dialect: 'vllm',
      messages: [{ role: 'user', content: 'How far is the moon?' }],
      tools: null,
      templateArguments: { enable_thinking: false },
      answer: { role: 'assistant', content: 'Far.' },
      sampling: {
        temperature: 1,
        topP: 1,
        topK: null,
        minP: null,
        presencePenalty: 0,
        frequencyPenalty: 0,
        repetitionPenalty: null,
        seed: null,
      },
      finishReason: 'stop',
      at: 1,
    },
    promptIds: Int32Array.from(PROMPT),
    responseIds: Int32Array.from(RESPONSE),
    rolloutLogProbs: Float32Array.of(-1, -1, -1),
  };
}

async function scored(options: { stored?: boolean } = {}): Promise<MessageOf<'turnScored'>['body']['teacher']> {
  const turnId = randomUUID();
  if (options.stored ?? true)
    await (await service!.app.get(Buckets).open('captures')).put(turnId, encodeCapture(capture(turnId)));
  const body: BodyOf<'turnHinted'> = {
    responseId: 'r1',
    sessionId: null,
    policyVersion: 0,
    evalScore: -1,
    evalVotes: [],
    hintVotes: [],
    rewardSource: 'votes',
    judgeModel: 'j',
    promptVersion: 'v',
    latencyMs: 1,
    truncated: false,
    hint: HINT,
  };
  await jetstream(connection).publish(
    contracts.turnHinted.subject,
    JSON.stringify({ v: 1, turnId, tenant: 'acme', at: 1, body }),
  );
  const manager = await jetstreamManager(connection);
  let found: MessageOf<'turnScored'> | undefined;
  await until(async () => {
    const message = (await manager.streams.getMessage('RL', { last_by_subj: contracts.turnScored.subject }))?.json<{
      turnId: string;
    }>();
    if (message?.turnId === turnId) found = messageSchema('turnScored').parse(message);
    return found !== undefined;
  });
  return found!.body.teacher;
}

it('vllm: scores the sampled ids after the hinted prompt, exactly as the engine gave them', async () => {
  await start((call) => (call.path === '/tokenize' ? tokenize(call) : vllmScore(TEACHER)));
  const teacher = await scored();
  expect(teacher).toMatchObject({ ok: true, model: 'base' });
  expect([...decodeLogProbs((teacher as Extract<typeof teacher, { ok: true }>).logProbs)]).toEqual(TEACHER);
  const [plain, , score] = engine.calls;
  expect(plain).toMatchObject({
    path: '/tokenize',
    authorization: 'Bearer k',
    body: { model: 'base', add_generation_prompt: true, chat_template_kwargs: { enable_thinking: false } },
  });
  expect(score).toMatchObject({
    path: '/v1/completions',
    body: { prompt: [...HINTED, ...RESPONSE], prompt_logprobs: 0, max_tokens: 1 },
  });
});

it('sglang: asks from the hinted prompt’s last id on and drops that entry', async () => {
  await start(
    (call) =>
      call.path === '/tokenize'
        ? tokenize(call)
        : {
            json: {
              text: '',
              meta_info: {
                id: 'x',
                prompt_tokens: 8,
                completion_tokens: 0,
                input_token_logprobs: [[null, 41, null], ...RESPONSE.map((id, t) => [TEACHER[t]!, id, null])],
              },
            },
          },
    { TEACHER_DIALECT: 'sglang' },
  );
  const teacher = await scored();
  expect([...decodeLogProbs((teacher as Extract<typeof teacher, { ok: true }>).logProbs)]).toEqual(TEACHER);
  expect(engine.calls.at(-1)).toMatchObject({
    path: '/generate',
    body: { logprob_start_len: HINTED.length - 1, input_ids: [...HINTED, ...RESPONSE] },
  });
});

it.each([
  {
    name: 'a template that gives other prompt ids',
    script: () => ({ json: { tokens: [1, 2, 3] } }),
    reason: 'template-mismatch',
  },
  {
    name: 'D24: a missing log-prob',
    script: (call: EngineCall) => (call.path === '/tokenize' ? tokenize(call) : vllmScore([-1, null, -1])),
    reason: 'non-finite',
  },
  {
    name: 'a request that the engine refuses',
    script: (call: EngineCall) =>
      call.path === '/tokenize' ? tokenize(call) : { status: 400, json: { error: { message: 'too long' } } },
    reason: 'refused-by-engine',
  },
])('$name: no teacher, and the reason is said', async ({ script, reason }) => {
  await start(script);
  expect(await scored()).toMatchObject({ ok: false, reason });
});

it.each([
  { name: 'differ by rounding', change: 1e-3, alarms: 0 },
  { name: 'differ by a whole nat', change: 1, alarms: 1 },
])('D28: two scorings of the same ids that $name raise $alarms alarms; the turn keeps its teacher', async (row) => {
  let scorings = 0;
  await start(
    (call) => {
      if (call.path === '/tokenize') return tokenize(call);
      const change = scorings++ === 0 ? 0 : row.change;
      return vllmScore(TEACHER.map((logProb) => logProb - change));
    },
    { TEACHER_RECHECK_EVERY: '2' },
  );
  const teacher = await scored();
  expect([...decodeLogProbs((teacher as Extract<typeof teacher, { ok: true }>).logProbs)]).toEqual(TEACHER);
  await scored();
  expect(scorings).toBe(3);
  const metrics = await (await fetch(`http://127.0.0.1:${service!.port}/metrics`)).text();
  const [, alarms] = /teacher_alarms_total\{kind="not-repeatable",.*\} (\d+)/.exec(metrics) ?? [null, '0'];
  expect(Number(alarms)).toBe(row.alarms);
});

it('a capture that is gone: no teacher', async () => {
  await start(tokenize);
  expect(await scored({ stored: false })).toMatchObject({ ok: false, reason: 'capture-missing' });
});

it('an engine that is away is waited for; nothing is lost', async () => {
  let failures = 3;
  await start((call) =>
    call.path === '/tokenize' ? (failures-- > 0 ? { status: 503, json: {} } : tokenize(call)) : vllmScore(TEACHER),
  );
  expect(await scored()).toMatchObject({ ok: true });
});
