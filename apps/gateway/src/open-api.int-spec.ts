import { queries, type TurnStory } from '@hindcast/contracts';
import { Bus, parseConfig, startService } from '@hindcast/platform';
import { AppModule } from './app.module';
import { GatewayConfig } from './config';
import { Conversations } from './conversations';
import { openApi } from './core/open-api/document';
import type { Method } from './core/open-api/operation';
import { EngineModels } from './engine-models';
import { FeedbackBook } from './feedback-book';
import { OutcomeBook } from './outcome-book';
import { PastResponses } from './past-responses';
import { PolicyRouter } from './policy-router';
import { Documentation, type Call } from './testing/documentation';
import {
  AWAY,
  chat,
  failuresOf,
  startBesides,
  startDocumentedGateways,
  withKey,
  type DocumentedGateways,
} from './testing/documented-gateways';
import { answerRoute, engineRoutes } from './testing/engine-routes';
import { answerOf, sendJson, type EngineCall, type FakeEngine } from './testing/fake-engine';
import type { BusReader, RunningGateway } from './testing/gateway-harness';
import { books, decided, story } from './testing/ledger-stories';

const documentation = new Documentation(openApi);
let stage: DocumentedGateways;
let engine: FakeEngine;
let bus: BusReader;
let gateway: RunningGateway;
let impatient: RunningGateway;
let away: RunningGateway;
let exhausted: RunningGateway;
let failures: readonly ((call: EngineCall) => void)[];
let turnId: string;
const cleanUp: (() => Promise<unknown> | void)[] = [];

/** Asks the gateway, with the key, unless the call says otherwise. @returns the status */
const ask = (method: Method, path: string, { to = gateway.url, ...call }: Call & { to?: string } = {}) =>
  documentation.ask(method, to, path, { headers: withKey, ...call });

/** For the rest of the test. */
const started = async (env: Record<string, string>): Promise<string> => {
  const other = await startBesides(engine, env);
  cleanUp.push(() => other.stop());
  return other.url;
};

beforeAll(async () => {
  stage = await startDocumentedGateways();
  ({ engine, bus, gateway, impatient, away, exhausted } = stage);
  failures = failuresOf(engine);
});
afterAll(() => stage.stop());
beforeEach(() => {
  engine.script = (call) => answerRoute(engine, call);
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const step of cleanUp.splice(0).reverse()) await step();
});

describe.each(engineRoutes)('$name', ({ path, body, isLimited }) => {
  it('answers as documented', async () => {
    expect(await ask('post', path, { body })).toBe(200);
    expect(
      await ask('post', path, {
        body: {
          ...body,
          train: false,
          session_id: 7,
          session_done: true,
          session_outcome: 'pending',
          ground_truth: '7',
        },
      }),
    ).toBe(200);
  });

  it('refuses as documented', async () => {
    expect(await ask('post', path, { body, headers: {} })).toBe(401);
    expect(await ask('post', path, { text: '{"messages":' })).toBe(400);
    expect(await ask('post', path, { body: [] })).toBe(400);
    expect(await ask('post', path, { text: '<a/>', headers: { ...withKey, 'content-type': 'text/xml' } })).toBe(415);
    expect(await ask('post', path, { body: { ...body, user: 'u'.repeat(30_000) } })).toBe(413);
    expect(await ask('post', path, { body: { ...body, model: 'unknown' } })).toBe(404);
  });

  it('hands an engine’s refusals on as documented', async () => {
    for (const status of [400, 404, 422, 429, 500, 503, 529]) {
      engine.script = (call) => engine.refuse(call, status, 'no', { 'retry-after': '7' });
      expect(await ask('post', path, { body, isEngines: true })).toBe(status);
      engine.script = (call) =>
        sendJson(call.response, status, { detail: [{ loc: ['body'] }] }, { 'retry-after': '7' });
      expect(await ask('post', path, { body, isEngines: true })).toBe(status);
    }
  });

  it('fails as documented', async () => {
    for (const script of failures) {
      engine.script = script;
      expect(await ask('post', path, { body })).toBe(502);
    }
    jest.spyOn(PolicyRouter.prototype, 'call').mockRejectedValue(new Error('a fault'));
    expect(await ask('post', path, { body })).toBe(500);
    jest.restoreAllMocks();
    engine.script = () => undefined;
    expect(await ask('post', path, { body, to: impatient.url })).toBe(504);
    expect(await ask('post', path, { body, to: away.url })).toBe(503);
  });

  if (isLimited)
    it('is held to the key’s limits as documented', async () => {
      // A minute gives one request back, and these tests may take longer.
      await (await exhausted.chat(chat, withKey)).text();
      expect(await ask('post', path, { body, to: exhausted.url })).toBe(429);
    });

  if (body['stream'] === true)
    it('ends a stream that breaks off as documented', async () => {
      for (const isReported of [true, false]) {
        engine.script = (call) => {
          engine.openStream(call);
          const begun = engine.events(call, answerOf('Hello there')).slice(0, 2);
          const completion = { id: 'cmpl-1', choices: [{ index: 0, text: 'Hello', finish_reason: null }] };
          if (call.path === '/v1/completions') begun.splice(0, 2, `data: ${JSON.stringify(completion)}\n\n`);
          call.response.write(begun.join(''), () => {
            if (isReported) engine.breakOff(call, 500, 'died');
            else call.response.destroy();
          });
        };
        expect(await ask('post', path, { body, isEngines: true })).toBe(200);
      }
    });
});

it('several choices, and calls, come as documented', async () => {
  const choice = { tokens: answerOf('two').tokens };
  const call = { index: 0, id: 'call_1', name: 'read', arguments: '{"a":1}' };
  const calling = { text: 'call', id: 9, logProb: -1, delta: { toolCalls: [call] } };
  engine.script = (asked) =>
    engine.answer(asked, asked.body['n'] === 2 ? answerOf('one', { others: [choice] }) : { tokens: [calling] });
  for (const stream of [true, false]) {
    expect(await ask('post', '/v1/chat/completions', { body: { ...chat, n: 2, stream } })).toBe(200);
    for (const { path, body } of engineRoutes.filter(({ enginePath }) => enginePath === '/v1/chat/completions'))
      expect(await ask('post', path, { body: { ...body, stream } })).toBe(200);
  }
});

it('tokens that the engines’ dialect cannot count are refused as documented', async () => {
  const to = await started({ POLICY_DIALECT: 'sglang' });
  expect(await ask('post', '/v1/messages/count_tokens', { body: chat, to })).toBe(501);
});

describe('turns', () => {
  beforeEach(async () => {
    const response = await gateway.chat(chat, withKey);
    turnId = response.headers.get('x-hindcast-turn-id')!;
    await bus.messageOf('turnCaptured', turnId);
  });

  const ledger = async (turn: TurnStory | null): Promise<void> => {
    const found = turn ? { found: true, turn: { ...turn, turnId } } : { found: false };
    const answers = { [queries.status.subject]: books, [queries.turn.subject]: found };
    for (const [subject, answer] of Object.entries(answers)) {
      const subscription = bus.raw.subscribe(subject, {
        callback: (_, message) => void message.respond(JSON.stringify(answer)),
      });
      cleanUp.push(() => subscription.unsubscribe());
    }
    await bus.raw.flush();
  };

  it('are told as documented', async () => {
    await ledger(story);
    expect(await ask('get', `/v1/turns/${turnId}`)).toBe(200);
    expect(await ask('get', '/v1/status')).toBe(200);
    await bus.setPolicy('trainer', { batchSize: 16, batchMin: 4, method: 'combine', backend: 'wasm' });
    expect(await ask('get', '/v1/status')).toBe(200);
    expect(await ask('post', '/v1/feedback', { body: { turn_id: turnId, reward: 1, comment: null } })).toBe(200);
    expect(await ask('get', `/v1/responses/resp_${turnId.replaceAll('-', '')}`)).toBe(200);
  });

  it('that are over are told as documented', async () => {
    await ledger(decided);
    expect(await ask('get', `/v1/turns/${turnId}`)).toBe(200);
    expect(await ask('post', '/v1/feedback', { body: { response_id: 'r', reward: -1, correction: 'No.' } })).toBe(200);
  });

  it('that are not known are answered as documented', async () => {
    await ledger(null);
    expect(await ask('get', '/v1/turns/nowhere')).toBe(404);
    expect(await ask('get', '/v1/responses/nowhere')).toBe(404);
    expect(await ask('get', '/v1/models/nowhere')).toBe(404);
    expect(await ask('post', '/v1/feedback', { body: { turn_id: 'nowhere', reward: 1 } })).toBe(404);
    const body = { model: 'seed', input: [{ type: 'item_reference', id: `msg_${'0'.repeat(32)}_0` }] };
    expect(await ask('post', '/v1/responses', { body })).toBe(404);
    const previous = { model: 'seed', input: 'Hi', previous_response_id: 'resp_1' };
    expect(await ask('post', '/v1/responses', { body: previous })).toBe(400);
  });

  it('without their ledger are answered as documented', async () => {
    expect(await ask('get', `/v1/turns/${turnId}`)).toBe(503);
    expect(await ask('get', '/v1/status')).toBe(503);
    expect(await ask('post', '/v1/feedback', { body: { response_id: 'nowhere', reward: 1 } })).toBe(503);
    const to = await started({});
    expect(await ask('get', `/v1/responses/resp_${turnId.replaceAll('-', '')}`, { to })).toBe(503);
  });
});

describe('the rest', () => {
  const gets = ['/v1/models', '/v1/models/seed', '/v1/status', '/v1/turns/x', '/v1/responses/x'];
  const posts = ['/v1/feedback', '/v1/sessions/a/end', '/v1/sessions/a/outcome'];
  const open = ['/healthz', '/readyz', '/metrics', '/docs', '/openapi.json', '/docs/openapi.json'];

  it('answers as documented', async () => {
    for (const path of open) expect(await ask('get', path, { headers: {} })).toBe(200);
    for (const path of ['/v1/models', '/v1/models/seed']) expect(await ask('get', path)).toBe(200);
    expect(await ask('post', '/v1/sessions/a/end')).toBe(200);
    expect(await ask('post', '/v1/sessions/a/outcome', { body: { reward: 0.5, comment: null } })).toBe(200);
  });

  it('refuses as documented', async () => {
    for (const path of gets) expect(await ask('get', path, { headers: {} })).toBe(401);
    for (const path of gets.filter((path) => /[xd]$/.test(path)))
      expect(await ask('get', path.replace(/\w+$/, '%ZZ'))).toBe(400);
    for (const path of posts) {
      expect(await ask('post', path, { headers: {} })).toBe(401);
      expect(await ask('post', path, { text: '{' })).toBe(400);
      expect(await ask('post', path, { body: 'a'.repeat(30_000) })).toBe(413);
      expect(await ask('post', path, { text: 'a', headers: { ...withKey, 'content-type': 'text/xml' } })).toBe(415);
    }
    expect(await ask('post', '/v1/feedback', { body: { turn_id: 'a', response_id: 'b', reward: 1 } })).toBe(400);
    for (const body of [{}, { reward: 2 }]) expect(await ask('post', '/v1/sessions/a/outcome', { body })).toBe(400);
    expect(await ask('post', '/v1/sessions/%20/outcome', { body: { reward: 1 } })).toBe(400);
  });

  it('fails as documented', async () => {
    const fault = new Error('a fault');
    jest.spyOn(EngineModels.prototype, 'all').mockRejectedValue(fault);
    jest.spyOn(PastResponses.prototype, 'capture').mockRejectedValue(fault);
    jest.spyOn(Bus.prototype, 'request').mockRejectedValue(fault);
    jest.spyOn(FeedbackBook.prototype, 'give').mockRejectedValue(fault);
    jest.spyOn(Conversations.prototype, 'endSession').mockRejectedValue(fault);
    jest.spyOn(OutcomeBook.prototype, 'give').mockRejectedValue(fault);
    const responseId = `resp_${'0'.repeat(32)}`;
    for (const path of gets) expect(await ask('get', path.replace('responses/x', `responses/${responseId}`))).toBe(500);
    expect(await ask('post', '/v1/feedback', { body: { turn_id: 'a', reward: 1 } })).toBe(500);
    expect(await ask('post', '/v1/sessions/a/end')).toBe(500);
    expect(await ask('post', '/v1/sessions/a/outcome', { body: { reward: 1 } })).toBe(500);
  });

  it('without engines answers as documented', async () => {
    const to = await started({ POLICY_BASE_URL: 'http://127.0.0.1:1/v1' });
    for (const path of ['/v1/models', '/v1/models/seed']) expect(await ask('get', path, { to })).toBe(502);
  });

  it('while it starts answers as documented', async () => {
    const env = {
      PORT: '0',
      LOG_LEVEL: 'silent',
      NATS_URL: AWAY,
      POLICY_BASE_URL: engine.url,
      DATA_DIR: gateway.dataDir,
    };
    const config = parseConfig('gateway', GatewayConfig, env);
    const service = await startService({
      app: 'gateway',
      config,
      module: AppModule,
      waitForBus: false,
      announce: () => undefined,
      shutdownMs: 500,
      prepare: async (app) => {
        const to = (await app.getUrl()).replace('[::1]', '127.0.0.1');
        for (const path of ['/healthz', '/metrics']) expect(await ask('get', path, { to })).toBe(200);
        for (const [path, methods] of Object.entries(openApi.paths).filter(([path]) => !/^\/(h|m)/.test(path)))
          for (const method of Object.keys(methods) as Method[])
            expect(await ask(method, path.replace('{id}', 'a'), { to })).toBe(503);
      },
    });
    await service.close();
  });
});

it('nothing is documented that never came', () => {
  expect(documentation.documented.filter((reply) => !documentation.seen.has(reply))).toEqual([]);
});
