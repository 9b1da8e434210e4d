import { answerOf, sendJson, type FakeEngine } from './testing/fake-engine';
import { startTestGateway } from './testing/gateway-harness';
import { says, startMessageStage, tools, type MessageStage } from './testing/message-stage';

describe('messages: count_tokens', () => {
  let stage: MessageStage;
  let engine: FakeEngine;
  let send: MessageStage['send'];

  beforeAll(async () => {
    stage = await startMessageStage();
    ({ engine, send } = stage);
  });
  afterAll(() => stage.stop());
  beforeEach(() => {
    engine.calls.length = 0;
    engine.script = (call) => engine.answer(call, answerOf('Hello there'));
  });

  const count = (fields: object): Promise<Response> =>
    send({ model: 'claude-x', messages: [says('how long?')], ...fields }, {}, '/v1/messages/count_tokens');

  it('asks the engine’s tokenizer for the prompt of the conversation', async () => {
    engine.script = (call) => sendJson(call.response, 200, { count: 42, max_model_len: 4096, tokens: [1] });
    const response = await count({ system: 'be brief', tools });
    expect([response.status, await response.json()]).toEqual([200, { input_tokens: 42 }]);
    expect(engine.calls[0]).toMatchObject({
      path: '/tokenize',
      body: {
        model: 'seed',
        messages: [{ role: 'system', content: 'be brief' }, says('how long?')],
        tools: [{ type: 'function', function: { name: 'read' } }, {}],
        add_generation_prompt: true,
      },
    });
  });

  it.each([
    {
      why: 'a refusal',
      answer: { error: { message: 'too long', type: 'x', code: 400 } },
      status: 400,
      type: 'invalid_request_error',
    },
    { why: 'an answer without a count', answer: { tokens: [] }, status: 200, type: 'api_error' },
  ])('$why', async ({ answer, status, type }) => {
    engine.script = (call) => sendJson(call.response, status, answer);
    const response = await count({});
    expect(response.status).toBe(status === 200 ? 502 : status);
    expect(await response.json()).toMatchObject({ type: 'error', error: { type } });
  });

  it('says when a busy engine may be asked again', async () => {
    engine.script = (call) =>
      sendJson(call.response, 429, { error: { message: 'busy', type: 'x', code: 429 } }, { 'retry-after': '7' });
    const response = await count({});
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
  });

  it('is refused where the engines cannot tell, and clients do not try again', async () => {
    const other = await startTestGateway({
      NATS_URL: stage.nats.url,
      POLICY_BASE_URL: engine.url,
      POLICY_DIALECT: 'sglang',
    });
    try {
      const response = await fetch(`${other.url}/v1/messages/count_tokens`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', messages: [says('x')] }),
      });
      expect([response.status, response.headers.get('x-should-retry')]).toEqual([501, 'false']);
      expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'api_error' } });
    } finally {
      await other.stop();
    }
  });
});
