import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeIds, encodeLogProbs } from '@hindcast/contracts';
import { loadTokenizer, type Tokenizer } from '@hindcast/language-model';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import type { FakeAnswer } from './testing/engine-wire';
import { FakeEngine } from './testing/fake-engine';
import { FakeLedger, turnDetail } from './testing/fake-ledger';
import { openAiWire, type OpenAiHabits } from './testing/fake-openai';
import { BusReader, startTestGateway, userSays } from './testing/gateway-harness';
import { startGatewayProcess, type GatewayProcess } from './testing/gateway-process';

const SEED_DIR = join(__dirname, '../../../models/seed');
const END = 4;
const ENGLISH = 'Sure, here is a kind answer.';

describe('the openai dialect', () => {
  let nats: NatsServer;
  let bus: BusReader;
  let tokenizer: Tokenizer;
  let folder: string;
  let habits: OpenAiHabits;
  let engine: FakeEngine;
  let gateway: GatewayProcess;
  beforeAll(async () => {
    nats = await startNatsServer();
    bus = await BusReader.connect(nats.url);
    tokenizer = await loadTokenizer(SEED_DIR);
    folder = mkdtempSync(join(tmpdir(), 'hindcast-openai-'));
    habits = {
      server: 'bytes',
      bytesOf: (id) => tokenizer.tokenBytes(id),
      isSpecial: (id) => tokenizer.isSpecial(id),
    };
    engine = await FakeEngine.start(openAiWire(habits));
    gateway = await start();
  });
  afterAll(async () => {
    await stop(gateway);
    await engine.stop();
    await bus.close();
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    habits.server = 'bytes';
    engine.calls.length = 0;
  });

  const start = (env: Record<string, string> = {}): Promise<GatewayProcess> =>
    startGatewayProcess({
      NATS_URL: nats.url,
      POLICY_BASE_URL: engine.url,
      POLICY_DIALECT: 'openai',
      POLICY_TOKENIZER_DIR: SEED_DIR,
      DATA_DIR: mkdtempSync(join(folder, 'data-')),
      ...env,
    });
  async function stop(running: GatewayProcess): Promise<void> {
    running.kill('SIGTERM');
    await running.ended;
  }

  /** As the seed model answers: tokens of the text and the end mark; counts the prompt as the template writes it. */
  function answerTo(text: string, prompt: string, over: Partial<FakeAnswer> = {}): FakeAnswer {
    const promptIds = tokenizer.encode(`<|bos|><|user|>${prompt}<|end|><|assistant|>`);
    const tokens = [...tokenizer.encode(text), END].map((id, i) => ({ id, text: '', logProb: -0.25 * (i + 1) }));
    return { tokens, promptIds, ...over };
  }

  async function chat(body: object, { url } = gateway) {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    const turnIds = response.headers.get('x-hindcast-turn-ids')?.split(',') ?? [];
    return { status: response.status, text, turnId: response.headers.get('x-hindcast-turn-id')!, turnIds };
  }
  const reasonOf = async (turnId: string) => (await bus.messageOf('turnCaptured', turnId)).body.untrainable;

  /** Ollama, and llama.cpp in a stream, count the end token and do not show it. */
  it.each<{ server: OpenAiHabits['server']; hidesEnd: { whole: boolean; streamed: boolean } }>([
    { server: 'bytes', hidesEnd: { whole: false, streamed: false } },
    { server: 'llama.cpp', hidesEnd: { whole: false, streamed: true } },
    { server: 'ollama', hidesEnd: { whole: true, streamed: true } },
  ])('D16 captures the ids behind what $server shows, whole and streamed', async ({ server, hidesEnd }) => {
    habits.server = server;
    for (const [stream, hides] of [
      [false, hidesEnd.whole],
      [true, hidesEnd.streamed],
    ] as const) {
      const prompt = `Hello from ${server}, ${String(stream)}`;
      const answer = answerTo(ENGLISH, prompt);
      engine.script = (call) => engine.answer(call, answer);
      const { text, turnId } = await chat({ messages: userSays(prompt), stream });
      expect(text).not.toContain('logprob');
      expect(await reasonOf(turnId)).toBeNull();
      const capture = (await bus.capture(turnId))!;
      const shown = answer.tokens.slice(0, hides ? -1 : undefined);
      expect([...capture.promptIds]).toEqual(answer.promptIds);
      expect([...capture.responseIds]).toEqual(shown.map(({ id }) => id));
      expect([...capture.rolloutLogProbs]).toEqual(shown.map(({ logProb }) => Math.fround(logProb!)));
      expect(capture.header).toMatchObject({ dialect: 'openai', policyVersion: 0 });
    }
  });

  it('a turn is shown with the texts of its tokens, from the vocabulary', async () => {
    const ids = [...tokenizer.encode('Sure, ü'), END];
    const pieces = ids.map((id) => tokenizer.tokenBytes(id));
    const logProbs = encodeLogProbs(ids.map(() => -1));
    const ledger = await FakeLedger.start(bus.raw);
    const detail = turnDetail({ tokens: { ids: encodeIds(ids), rollout: logProbs, teacher: null } });
    ledger.answers.turnDetail = () => ({ found: true, detail });
    try {
      const { texts } = (await (await fetch(`${gateway.url}/admin/v1/turns/x`)).json()) as { texts: (string | null)[] };
      const isWhole = (bytes: Uint8Array): boolean => !Buffer.from(bytes).toString().includes('\uFFFD');
      expect(texts).toEqual(pieces.map((bytes) => (isWhole(bytes) ? Buffer.from(bytes).toString() : null)));
      expect(texts.join('')).toContain('Sure,');
      expect(engine.calls).toEqual([]);
    } finally {
      ledger.stop();
    }
  });

  it('captures every choice; usage counts them together', async () => {
    const [first, second] = [answerTo(ENGLISH, 'two'), answerTo('No.', 'two')];
    engine.script = (call) => engine.answer(call, { ...first, others: [second] });
    const { turnIds } = await chat({ messages: userSays('two'), n: 2 });
    expect(turnIds).toHaveLength(2);
    for (const [index, { tokens }] of [first, second].entries()) {
      expect(await reasonOf(turnIds[index]!)).toBeNull();
      expect([...(await bus.capture(turnIds[index]!))!.responseIds]).toEqual(tokens.map(({ id }) => id));
    }
    const usage = { prompt_tokens: first.promptIds!.length, completion_tokens: first.tokens.length };
    engine.script = (call) => engine.answer(call, { ...first, others: [second], usage });
    const refused = await chat({ messages: userSays('two'), n: 2 });
    expect(await Promise.all(refused.turnIds.map(reasonOf))).toEqual(['length-mismatch', 'length-mismatch']);
  });

  describe('refuses, and serves', () => {
    it.each<{
      why: string;
      counted?: readonly [prompt: number, completion: number];
      over?: Partial<FakeAnswer>;
      body?: object;
      reason: string;
    }>([
      {
        why: 'a prompt of another length: the server has another template',
        counted: [1, 0],
        reason: 'prompt-mismatch',
      },
      {
        why: 'more tokens counted than shown',
        counted: [0, 1],
        reason: 'length-mismatch',
      },
      {
        why: 'a temperature that the log-probs do not know',
        body: { temperature: 0.6 },
        reason: 'off-policy:temperature',
      },
      { why: 'an answer that the length limit ended', over: { finishReason: 'length' }, reason: 'truncated' },
    ])('$why', async ({ counted = [0, 0], over, body, reason }) => {
      const answer = answerTo(ENGLISH, reason, over);
      const usage = {
        prompt_tokens: answer.promptIds!.length + counted[0],
        completion_tokens: answer.tokens.length + counted[1],
      };
      engine.script = (call) => engine.answer(call, { ...answer, usage });
      const { status, text, turnId } = await chat({ messages: userSays(reason), ...body });
      expect([status, text.includes(ENGLISH)]).toEqual([200, true]);
      expect(await reasonOf(turnId)).toBe(reason);
      expect(await bus.capture(turnId)).toBeNull();
    });

    it('an answer without usage', async () => {
      engine.script = (call) => {
        const { usage: _, ...rest } = engine.whole(call, answerTo(ENGLISH, 'no usage')) as Record<string, unknown>;
        call.response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(rest));
      };
      const { turnId } = await chat({ messages: userSays('no usage') });
      expect(await reasonOf(turnId)).toBe('no-prompt-ids');
    });
  });

  it('refuses bytes that two tokens have', async () => {
    const dir = join(folder, 'ambiguous');
    cpSync(SEED_DIR, dir, { recursive: true });
    const path = join(dir, 'tokenizer.json');
    const file = JSON.parse(readFileSync(path, 'utf8')) as { added_tokens: object[] };
    const content = Buffer.from(tokenizer.tokenBytes(tokenizer.encode(ENGLISH)[1]!)).toString();
    file.added_tokens.push({ id: tokenizer.vocabSize, content, special: false, normalized: false });
    writeFileSync(path, JSON.stringify(file));
    const unsure = await start({ POLICY_TOKENIZER_DIR: dir });
    try {
      engine.script = (call) => engine.answer(call, answerTo(ENGLISH, 'twice'));
      const { turnId } = await chat({ messages: userSays('twice') }, unsure);
      expect(await reasonOf(turnId)).toBe('ambiguous-tokens');
    } finally {
      await stop(unsure);
    }
  });

  it('serves a stream with tools that llama.cpp has no log-probs for', async () => {
    habits.server = 'llama.cpp';
    engine.script = (call) => engine.answer(call, answerTo(ENGLISH, 'tools'));
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    const { status, text, turnId } = await chat({ messages: userSays('tools'), tools, stream: true });
    expect([status, text.includes('[DONE]')]).toEqual([200, true]);
    expect(engine.calls.map(({ body }) => body['logprobs'])).toEqual([true, undefined]);
    expect(await reasonOf(turnId)).toBe('no-log-probs');
  });

  it('does not start with a folder that holds no tokenizer', async () => {
    await expect(start({ POLICY_TOKENIZER_DIR: join(folder, 'none') })).rejects.toThrow('ended with 2');
  });

  it('serves without a folder, and trains nothing', async () => {
    const plain = await startTestGateway({
      NATS_URL: nats.url,
      POLICY_BASE_URL: engine.url,
      POLICY_DIALECT: 'openai',
    });
    try {
      engine.script = (call) => engine.answer(call, answerTo(ENGLISH, 'no folder'));
      const response = await plain.chat({ messages: userSays('no folder') });
      expect(await response.text()).toContain(ENGLISH);
      expect(await reasonOf(response.headers.get('x-hindcast-turn-id')!)).toBe('no-token-ids');
      expect(engine.calls[0]!.body).not.toHaveProperty('top_k');
    } finally {
      await plain.stop();
    }
  });
});
