import { encodeIds } from '@hindcast/contracts';
import { startNatsServer, type NatsServer } from '../../../../libs/platform/src/testing/nats-server';
import { FakeEngine, sendJson, type EngineCall } from '../testing/fake-engine';
import { FakeLedger, turnDetail } from '../testing/fake-ledger';
import { BusReader, eventually, startTestGateway, type RunningGateway } from '../testing/gateway-harness';

const REPLACEMENT = '\uFFFD';
const TEXTS: Record<number, string> = { 1: 'hi', 2: ' there', 3: REPLACEMENT, 4: '<|im_end|>' };
const textOf = (ids: readonly number[]): string => ids.map((id) => TEXTS[id] ?? `t${id}.`).join('');

let nats: NatsServer;
let bus: BusReader;
let ledger: FakeLedger;
const cleanUp: (() => Promise<unknown> | void)[] = [];

beforeAll(async () => {
  nats = await startNatsServer();
  bus = await BusReader.connect(nats.url);
  ledger = await FakeLedger.start(bus.raw);
});
afterAll(async () => {
  ledger.stop();
  await bus.close();
  await nats.stop();
});
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

async function start(dialect: 'vllm' | 'sglang'): Promise<{ gateway: RunningGateway; engine: FakeEngine }> {
  const engine = await FakeEngine.start(dialect);
  cleanUp.push(() => engine.stop());
  const gateway = await startTestGateway({
    NATS_URL: nats.url,
    POLICY_BASE_URL: engine.url,
    POLICY_DIALECT: dialect,
    POLICY_API_KEY: 'sk-engine',
  });
  cleanUp.push(() => gateway.stop());
  await eventually(async () => (await (await fetch(`${gateway.url}/readyz`)).text()).includes('"degraded":[]'));
  return { gateway, engine };
}

async function textsOf(gateway: RunningGateway, ids: number[]): Promise<unknown> {
  const logProbs = {
    dtype: 'float32' as const,
    length: ids.length,
    base64: Buffer.alloc(4 * ids.length).toString('base64'),
  };
  ledger.answers.turnDetail = () => ({
    found: true,
    detail: turnDetail({ tokens: { ids: encodeIds(ids), rollout: logProbs, teacher: null } }),
  });
  const response = await fetch(`${gateway.url}/admin/v1/turns/x`);
  expect(response.status).toBe(200);
  return ((await response.json()) as { texts: unknown }).texts;
}

it('vLLM is asked for each id once, twice in a row', async () => {
  const { gateway, engine } = await start('vllm');
  engine.script = ({ body, response }) => sendJson(response, 200, { prompt: textOf(body['tokens'] as number[]) });
  expect(await textsOf(gateway, [1, 2, 3, 2, 4])).toEqual(['hi', ' there', null, ' there', '<|im_end|>']);
  expect(engine.calls.map(({ path, body }) => [path, body])).toEqual(
    [1, 2, 3, 4].map((id) => ['/detokenize', { model: 'seed', tokens: [id, id] }]),
  );
  expect(engine.calls[0]!.headers.authorization).toBe('Bearer sk-engine');
  expect(await textsOf(gateway, [4, 1])).toEqual(['<|im_end|>', 'hi']);
  expect(engine.calls).toHaveLength(4);
});

it('SGLang is asked for all of them at once, its marks too', async () => {
  const { gateway, engine } = await start('sglang');
  engine.script = ({ body, response }) =>
    sendJson(response, 200, { text: (body['tokens'] as number[][]).map((ids) => textOf(ids)) });
  expect(await textsOf(gateway, [1, 2, 3, 4])).toEqual(['hi', ' there', null, '<|im_end|>']);
  expect(engine.calls.map(({ path, body }) => [path, body])).toEqual([
    [
      '/detokenize',
      {
        model: 'seed',
        tokens: [
          [1, 1],
          [2, 2],
          [3, 3],
          [4, 4],
        ],
        skip_special_tokens: false,
      },
    ],
  ]);
});

it('never more than eight calls at a time, however many ids and pages', async () => {
  const { gateway, engine } = await start('vllm');
  let running = 0;
  let most = 0;
  engine.script = ({ body, response }) => {
    most = Math.max(most, ++running);
    setImmediate(() => {
      running--;
      sendJson(response, 200, { prompt: textOf(body['tokens'] as number[]) });
    });
  };
  const some = (from: number): number[] => Array.from({ length: 60 }, (_, i) => from + i);
  const pages = await Promise.all([textsOf(gateway, some(1_000)), textsOf(gateway, some(5_000))]);
  expect((pages as string[][]).map((texts) => texts.every((text) => typeof text === 'string'))).toEqual([true, true]);
  expect(most).toBeLessThanOrEqual(8);
});

it('an id that is none of the vocabulary has no text, the others have', async () => {
  const { gateway, engine } = await start('vllm');
  engine.script = (call) => {
    const ids = call.body['tokens'] as number[];
    if (ids[0] === 9) return engine.refuse(call, 400, 'Token id 9 is out of vocabulary');
    sendJson(call.response, 200, { prompt: textOf(ids) });
  };
  expect(await textsOf(gateway, [9, 1])).toEqual([null, 'hi']);
});

const failures: [string, (call: EngineCall, engine: FakeEngine) => void][] = [
  ['knows no such call', (call, engine) => engine.refuse(call, 404, 'Not Found')],
  ['fails', (call, engine) => engine.refuse(call, 500, 'died')],
  ['says nothing of use', ({ response }) => sendJson(response, 200, { prompt: 7 })],
  ['does not speak JSON', ({ response }) => void response.writeHead(200).end('<html>')],
  ['hangs up', ({ response }) => void response.destroy()],
];
it.each(failures)('an engine that %s: the turn is shown without texts, and it is left alone', async (_, fail) => {
  const { gateway, engine } = await start('vllm');
  engine.script = (call) => fail(call, engine);
  expect(
    await textsOf(
      gateway,
      Array.from({ length: 50 }, (_, i) => i),
    ),
  ).toBeNull();
  expect(await textsOf(gateway, [777])).toBeNull();
  expect(engine.calls.length).toBeLessThanOrEqual(16);
  expect(engine.calls.map(({ body }) => (body['tokens'] as number[])[0])).not.toContain(777);
});

it('without an engine the turn is shown without texts', async () => {
  const gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: 'http://127.0.0.1:1/v1' });
  cleanUp.push(() => gateway.stop());
  await eventually(async () => !(await (await fetch(`${gateway.url}/readyz`)).text()).includes('"nats'));
  expect(await textsOf(gateway, [1])).toBeNull();
});
