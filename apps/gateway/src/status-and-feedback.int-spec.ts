import { queries, type LedgerStatus, type TurnStory } from '@hindcast/contracts';
import { answerOf } from './testing/fake-engine';
import { userSays, type BusReader, type RunningGateway } from './testing/gateway-harness';
import { ask as askGateway } from './testing/chat-request';
import { startGatewayStage, type GatewayStage } from './testing/gateway-stage';
import { story } from './testing/ledger-stories';

describe('status, feedback and documentation', () => {
  let stage: GatewayStage;
  let gateway: RunningGateway;
  let bus: BusReader;

  beforeAll(async () => {
    stage = await startGatewayStage();
    ({ gateway, bus } = stage);
    const { engine } = stage;
    engine.script = (call) => engine.answer(call, answerOf('Hello'));
  });
  afterAll(() => stage.stop());
  const ask = (messages: object[]): Promise<string> => askGateway(gateway, messages);

  it('D79 status and turns are 503 while the ledger is away', async () => {
    for (const path of ['/v1/status', '/v1/turns/x']) {
      const response = await fetch(gateway.url + path);
      expect(response.status).toBe(503);
      expect(((await response.json()) as { error: { code: string } }).error.code).toBe('ledger-unavailable');
    }
  });

  it('D4 status shows the books and the batch; feedback pairs an open turn and tells when it is late', async () => {
    const turnId = await ask(userSays('feedback please'));
    await bus.setPolicy('trainer', { batchSize: 16, batchMin: 4, method: 'combine', backend: 'wasm' });
    const books: LedgerStatus = {
      turns: { captured: 3, paired: 3, untrainable: 0, expired: 0, superseded: 0, failed: 0, open: 0 },
      cases: { opdRl: 1, opd: 1, rl: 1, drop: 0, deciding: 0 },
      reasons: { stale: 1, 'no-token-ids': 2 },
      waitingSamples: 3,
      samplesTrained: 0,
      steps: 0,
      versionsPublished: 0,
      policyVersion: 0,
    };
    const told = (state: TurnStory['state']): object => ({ found: true, turn: { ...story, turnId, state } });
    let answer: object = told('open');
    const ledger = [
      bus.raw.subscribe(queries.status.subject, {
        callback: (_, message) => void message.respond(JSON.stringify(books)),
      }),
      bus.raw.subscribe(queries.turn.subject, {
        callback: (_, message) => void message.respond(JSON.stringify(answer)),
      }),
    ];
    await bus.raw.flush();
    const get = async (path: string): Promise<unknown> => (await fetch(gateway.url + path)).json();
    expect(await get('/v1/status')).toMatchObject({
      waitingSamples: 3,
      batchSize: 16,
      policyVersion: 0,
      cases: { opdRl: 1, opd: 1, rl: 1, drop: 0 },
      reasons: { stale: 1, 'no-token-ids': 2 },
    });
    expect(await get(`/v1/turns/${turnId}`)).toMatchObject({ turnId, state: 'open' });

    const give = async (body: object): Promise<Response> =>
      fetch(`${gateway.url}/v1/feedback`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect(await (await give({ turn_id: turnId, reward: -1, correction: 'Say hi.' })).json()).toEqual({
      turn_id: turnId,
      status: 'accepted',
    });
    expect((await bus.messageOf('turnPaired', turnId)).body).toMatchObject({ nextState: [], answer: 'Hello' });
    const stored = await (await bus.bucket('feedback')).get(turnId);
    expect(stored!.json()).toMatchObject({ reward: -1, correction: 'Say hi.', comment: null });

    answer = told('decided');
    expect(await (await give({ turn_id: turnId, reward: 1 })).json()).toEqual({ turn_id: turnId, status: 'late' });
    answer = { found: false };
    // The ledger learns of a turn a moment after its client; until then the gateway answers from what it just saw.
    expect(await get(`/v1/turns/${turnId}`)).toMatchObject({ turnId, state: 'open', policyVersion: 0 });
    expect((await fetch(`${gateway.url}/v1/turns/unknown`)).status).toBe(404);
    expect((await give({ response_id: 'chatcmpl-unknown', reward: 1 })).status).toBe(404);
    for (const body of [
      {},
      { turn_id: turnId },
      { turn_id: turnId, reward: 5 },
      { turn_id: turnId, response_id: 'r', reward: 1 },
    ]) {
      expect((await give(body)).status).toBe(400);
    }
    for (const subscription of ledger) subscription.unsubscribe();
  });

  it('serves its documentation, and unknown paths in OpenAI’s error shape', async () => {
    const document = (await (await fetch(`${gateway.url}/docs/openapi.json`)).json()) as { paths: object };
    expect(Object.keys(document.paths)).toContain('/v1/chat/completions');
    expect(await (await fetch(`${gateway.url}/docs`)).text()).toContain('/v1/feedback');
    const missing = await fetch(`${gateway.url}/v1/nothing`);
    expect(missing.status).toBe(404);
    expect(((await missing.json()) as { error: object }).error).toMatchObject({ code: 'not-found' });
  });
});
