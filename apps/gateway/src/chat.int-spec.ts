import OpenAI from 'openai';
import { answerOf, type FakeEngine } from './testing/fake-engine';
import { type BusReader, dataOf, eventually, userSays, type RunningGateway } from './testing/gateway-harness';
import { startGatewayStage, type GatewayStage } from './testing/gateway-stage';

describe('chat: capture and pairing', () => {
  let stage: GatewayStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;

  beforeAll(async () => {
    stage = await startGatewayStage();
    ({ engine, gateway, bus } = stage);
  });
  afterAll(() => stage.stop());
  beforeEach(() => {
    engine.calls.length = 0;
    engine.models = [{ id: 'seed' }];
    engine.script = (call) => engine.answer(call, answerOf('Hello there'));
  });

  it.each([true, false])('D1 D13 a plain client without headers is captured exactly (stream: %s)', async (stream) => {
    const answer = answerOf('Hello there my friend', { promptIds: [7, 8, 9, 10] });
    engine.script = (call) => engine.answer(call, answer);
    const response = await gateway.chat({ model: 'any', messages: userSays(`Hi ${stream}`), stream });
    expect(response.status).toBe(200);
    const turnId = response.headers.get('x-hindcast-turn-id')!;
    const text = await response.text();
    expect(text).not.toMatch(/token_ids|logprob"|"usage":\{.*chunk/);
    const { body } = await bus.messageOf('turnCaptured', turnId);
    expect(body).toMatchObject({
      policyVersion: 0,
      model: 'seed',
      promptTokens: 4,
      completionTokens: 4,
      finishReason: 'stop',
      untrainable: null,
    });
    const capture = (await bus.capture(turnId))!;
    expect([...capture.promptIds]).toEqual([7, 8, 9, 10]);
    expect([...capture.responseIds]).toEqual([100, 101, 102, 103]);
    expect([...capture.rolloutLogProbs]).toEqual([-0.5, -0.75, -1, -1.25]);
    expect(capture.header.answer).toMatchObject({ role: 'assistant', content: 'Hello there my friend' });
    expect(capture.header.sampling).toMatchObject({ temperature: 1, topP: 1 });
  });

  it('pairs a turn with every message that follows it', async () => {
    const first = await gateway.chat({ messages: userSays('What is up?') });
    await first.text();
    const turnId = first.headers.get('x-hindcast-turn-id')!;
    await (
      await gateway.chat({
        messages: [...userSays('What is up?', ' Hello there '), { role: 'user', content: 'Not good.' }],
      })
    ).text();
    const { body } = await bus.messageOf('turnPaired', turnId);
    expect(body).toMatchObject({
      conversation: [{ role: 'user', text: 'What is up?' }],
      nextState: [{ role: 'user', text: 'Not good.', toolName: null }],
      truncated: false,
    });
    expect(body.answer.trim()).toBe('Hello there');
  });

  it('each token reaches the client before the engine sends the next', async () => {
    const confirmations: (() => void)[] = [];
    const answer = answerOf('one two three four');
    engine.script = async (call) => {
      engine.openStream(call);
      const events = engine.events(call, answer);
      for (const [index, event] of events.entries()) {
        // Everything before the finish: the client must have confirmed the event before.
        if (index > 0 && index < 4) await new Promise<void>((resolve) => confirmations.push(resolve));
        call.response.write(event);
      }
      call.response.end();
    };
    const client = new OpenAI({ apiKey: 'none', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const stream = await client.chat.completions.create({
      model: 'hindcast',
      messages: [{ role: 'user', content: 'count' }],
      stream: true,
    });
    const seen: string[] = [];
    for await (const chunk of stream) {
      seen.push(chunk.choices[0]!.delta.content ?? '');
      await eventually(async () => confirmations.length > 0 || seen.length >= 4);
      confirmations.shift()?.();
    }
    expect(seen).toEqual(['', 'one', ' two', ' three', ' four']);
  });

  it('an engine that never ends the stream of a finished answer costs neither the capture nor the client', async () => {
    engine.script = (call) => {
      engine.openStream(call);
      for (const event of engine.events(call, answerOf('done, but open')).slice(0, -1)) call.response.write(event);
    };
    const response = await gateway.chat({ messages: userSays('and then?'), stream: true });
    expect(dataOf(await response.text()).join('')).toContain(' open');
    const { body } = await bus.messageOf('turnCaptured', response.headers.get('x-hindcast-turn-id')!);
    expect(body).toMatchObject({ untrainable: null, finishReason: 'stop' });
  });

  it('times streams, whole answers and refusals', async () => {
    const counts = (): Promise<number[]> =>
      Promise.all([
        gateway.metric('chat_request_duration_seconds_count', 'streamed="true"'),
        gateway.metric('chat_request_duration_seconds_count', 'streamed="false"'),
        gateway.metric('chat_stream_start_seconds_count'),
      ]);
    const before = await counts();
    await (await gateway.chat({ messages: userSays('s'), stream: true })).text();
    await (await gateway.chat({ messages: userSays('w') })).text();
    engine.script = (call) => void call.response.writeHead(400).end('{}');
    await (await gateway.chat({ messages: userSays('r'), stream: true })).text();
    await eventually(async () => (await counts()).join() === [before[0]! + 2, before[1]! + 1, before[2]! + 1].join());
    expect(await gateway.metric('uncaptured_total')).toBe(0);
  });

  it('cuts only what Hindcast asked for', async () => {
    await (await gateway.chat({ messages: userSays('a'), stream: true })).text();
    expect(engine.calls[0]!.body).toMatchObject({
      return_token_ids: true,
      logprobs: true,
      stream_options: { include_usage: true },
    });
    const asked = await gateway.chat({
      messages: userSays('a'),
      stream: true,
      logprobs: true,
      return_token_ids: true,
      stream_options: { include_usage: true },
    });
    const own = dataOf(await asked.text());
    expect(own[0]).toContain('"prompt_token_ids":[1,2,3]');
    expect(own[1]).toContain('"logprob":-0.5');
    expect(own.at(-2)).toContain('"completion_tokens":2');
  });
});
