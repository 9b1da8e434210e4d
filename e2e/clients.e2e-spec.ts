import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEngine, type RunningEngine } from '../apps/engine/src/testing/running-engine';
import { FakeEngine, type EngineCall, type FakeAnswer, type FakeToken } from '../apps/gateway/src/testing/fake-engine';
import {
  BusReader,
  eventually,
  startTestGateway,
  type RunningGateway,
} from '../apps/gateway/src/testing/gateway-harness';
import { startNatsServer, type NatsServer } from '../libs/platform/src/testing/nats-server';

const run = promisify(execFile);
const WEATHER = 'It is sunny in Paris and in Rome.';
const WELCOME = 'You are welcome!';

interface Client {
  readonly name: string;
  readonly script: string;
  readonly env?: Record<string, string>;
}

const CLIENTS: readonly Client[] = [
  { name: 'openai, chat completions with runTools', script: 'openai-chat.mjs' },
  { name: 'openai, responses', script: 'openai-responses.mjs' },
  { name: 'openai, responses by previous_response_id', script: 'openai-previous-response.mjs' },
  { name: 'ai with @ai-sdk/openai-compatible', script: 'ai-sdk.mjs' },
  { name: '@langchain/openai', script: 'langchain.mjs' },
  { name: '@openai/agents, chat completions', script: 'openai-agents.mjs', env: { API: 'chat' } },
  { name: '@openai/agents, responses', script: 'openai-agents.mjs', env: { API: 'responses' } },
  { name: '@anthropic-ai/sdk', script: 'anthropic.mjs' },
  { name: '@mariozechner/pi-ai', script: 'pi-ai.mjs' },
];
const MODES = [
  { mode: 'whole', streamed: false },
  { mode: 'streamed', streamed: true },
];

/** Runs a client to its end; the answers that its user saw. */
async function converse(gateway: RunningGateway, { script, env }: Client, streamed: boolean): Promise<string[]> {
  const { stdout } = await run(process.execPath, [join(__dirname, 'clients', script)], {
    env: {
      PATH: process.env['PATH'],
      BASE_URL: `${gateway.url}/v1`,
      API_KEY: 'sk-a-key-of-the-client',
      STREAMED: streamed ? '1' : '0',
      ...env,
    },
  });
  return (JSON.parse(stdout.trim().split('\n').at(-1)!) as { answers: string[] }).answers;
}

/** The turns that were captured since `known`, oldest first; waits for `count` of them. */
async function newTurns(bus: BusReader, known: ReadonlySet<string>, count: number): Promise<string[]> {
  return eventually(async () => {
    const turns = (await bus.messages('turnCaptured')).filter(({ turnId }) => !known.has(turnId!));
    for (const { body } of turns) expect(body.untrainable).toBeNull();
    return turns.length >= count && turns.map(({ turnId }) => turnId!);
  });
}

describe.each(['vllm', 'sglang'] as const)('real clients in front of %s', (dialect) => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let bus: BusReader;
  let gateway: RunningGateway;
  let sampled: FakeAnswer[] = [];

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start(dialect);
    engine.script = (call) => {
      const answer = answerTo(call, sampled.length);
      sampled.push(answer);
      engine.answer(call, answer);
    };
    bus = await BusReader.connect(nats.url);
    gateway = await startTestGateway({
      NATS_URL: nats.url,
      POLICY_BASE_URL: engine.url,
      POLICY_DIALECT: dialect,
    });
    await eventually(() => bus.messages('turnCaptured'));
  });
  afterAll(async () => {
    await gateway.stop();
    await bus.close();
    await engine.stop();
    await nats.stop();
  });

  const cases = CLIENTS.flatMap((client) => MODES.map((mode) => ({ client, ...mode, name: client.name })));
  it.each(cases)('$name, $mode: three turns with tools, captured exactly and paired', async ({ client, streamed }) => {
    sampled = [];
    const known = new Set((await bus.messages('turnCaptured')).map(({ turnId }) => turnId!));
    expect(await converse(gateway, client, streamed)).toEqual([WEATHER, WELCOME]);

    const turns = await newTurns(bus, known, 3);
    expect(turns).toHaveLength(3);
    for (const [index, turnId] of turns.entries()) {
      const capture = (await bus.capture(turnId))!;
      expect([...capture.promptIds]).toEqual(sampled[index]!.promptIds);
      expect([...capture.responseIds]).toEqual(sampled[index]!.tokens.map(({ id }) => id));
      expect([...capture.rolloutLogProbs]).toEqual(sampled[index]!.tokens.map(({ logProb }) => Math.fround(logProb!)));
    }
    const [calls, told] = await Promise.all(turns.slice(0, 2).map((turnId) => bus.messageOf('turnPaired', turnId)));
    expect(calls!.body.nextState.map(({ role, text, toolName }) => [role, text, toolName])).toEqual([
      ['tool', expect.stringContaining('Paris: sunny'), 'get_weather'],
      ['tool', expect.stringContaining('Rome: sunny'), 'get_weather'],
    ]);
    expect(told!.body.nextState.map(({ role, text }) => [role, text])).toEqual([['user', 'Thank you!']]);
    expect(told!.body.answer).toBe(WEATHER);
  });
});

describe('real clients in front of the embedded engine', () => {
  let nats: NatsServer;
  let engine: RunningEngine;
  let bus: BusReader;
  let gateway: RunningGateway;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await startEngine();
    bus = await BusReader.connect(nats.url);
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: `${engine.url}/v1` });
    await eventually(() => bus.messages('turnCaptured'));
  });
  afterAll(async () => {
    await gateway.stop();
    await bus.close();
    await engine.close();
    await nats.stop();
  });

  const cases = CLIENTS.flatMap((client) => MODES.map((mode) => ({ client, ...mode, name: client.name })));
  it.each(cases)('$name, $mode: two turns with tools at hand, captured and paired', async ({ client, streamed }) => {
    const known = new Set((await bus.messages('turnCaptured')).map(({ turnId }) => turnId!));
    const answers = await converse(gateway, client, streamed);
    const [first, second] = await newTurns(bus, known, 2);
    const paired = await bus.messageOf('turnPaired', first!);
    expect(paired.body.answer.trim()).toBe(answers[0]!.trim());
    expect(paired.body.nextState.map(({ text }) => text)).toEqual(['Thank you!']);
    const capture = (await bus.capture(second!))!;
    expect(capture.responseIds.length).toBe(capture.rolloutLogProbs.length);
    expect(capture.header.answer['content']).toBe(answers[1]);
  });
});

/** Two tool calls at once for a question, words for a result, thanks for thanks. Ids differ from answer to answer. */
function answerTo({ body }: EngineCall, index: number): FakeAnswer {
  const { role } = (body['messages'] as { role: string }[]).at(-1)!;
  const promptIds = [1, 2, 3].map((id) => id + 10 * index);
  const asked = JSON.stringify((body['messages'] as unknown[]).at(-1)).includes('weather in');
  if (role === 'user' && asked)
    return { promptIds, tokens: [control(index), ...toolCall(0, 'Paris'), ...toolCall(1, 'Rome')] };
  return { promptIds, tokens: words(role === 'tool' ? WEATHER : WELCOME, index) };
}

/** A token that never shows, as the mark that begins a tool call. */
const control = (index: number): FakeToken => ({ text: '<tool_call>', id: 7 + index, logProb: -0.0625, delta: null });

const toolCall = (index: number, city: string): FakeToken[] => [
  {
    text: '{"name": "get_weather"',
    id: 50 + index,
    logProb: -0.1,
    delta: { toolCalls: [{ index, id: `call_${city}`, name: 'get_weather', arguments: '' }] },
  },
  { text: '{"city":', id: 60 + index, logProb: -0.2, delta: { toolCalls: [{ index, arguments: '{"city":' }] } },
  { text: ` "${city}"}`, id: 70 + index, logProb: -1.3, delta: { toolCalls: [{ index, arguments: ` "${city}"}` }] } },
];

const words = (text: string, index: number): FakeToken[] =>
  (text.match(/\s*\S+/g) ?? []).map((word, at) => ({ text: word, id: 100 + 20 * index + at, logProb: -0.3 - at / 7 }));
