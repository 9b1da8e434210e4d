import { callingAnswer, startCaptureStage, thinkingAnswer, type CaptureStage } from './testing/capture-stage';
import { answerOf, type FakeEngine } from './testing/fake-engine';
import { dataOf, userSays, type BusReader, type RunningGateway } from './testing/gateway-harness';
import { someTools } from './testing/tool-conversation';

type Json = Record<string, unknown>;

describe.each(['vllm', 'sglang'] as const)('streams of every shape from %s', (dialect) => {
  let stage: CaptureStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;
  let untrainable: CaptureStage['untrainable'];

  beforeAll(async () => {
    stage = await startCaptureStage(dialect);
    ({ engine, gateway, bus, untrainable } = stage);
  });
  afterAll(() => stage.stop());
  beforeEach(() => {
    engine.calls.length = 0;
  });

  it('D20 a chunk that the engine swallows: five ids, four log-probs, refused and counted', async () => {
    const before = await gateway.metric('turns_untrainable_total', 'length-mismatch');
    const answer = answerOf('one two three four five');
    engine.script = (asked) => {
      engine.openStream(asked);
      const events = engine
        .events(asked, answer)
        .map((event) =>
          event.includes('" three"') ? event.replace(/"logprobs":\{"content":.*?\}\]\}/, '"logprobs":null') : event,
        );
      asked.response.end(events.join(''));
    };
    const response = await gateway.chat({ messages: userSays('D20'), stream: true });
    expect(dataOf(await response.text()).join('')).toContain(' three');
    expect(await untrainable({ turnId: response.headers.get('x-hindcast-turn-id')!, text: '' })).toBe(
      'length-mismatch',
    );
    expect(await gateway.metric('turns_untrainable_total', 'length-mismatch')).toBe(before + 1);
  });

  it('D21 reasoning whose chunks lack their log-probs is refused', async () => {
    engine.script = (asked) => {
      engine.openStream(asked);
      const bare = engine
        .events(asked, thinkingAnswer)
        .map((event) =>
          /"reasoning(_content)?":"/.test(event)
            ? event.replace(/"logprobs":\{"content":.*?\}\]\}/, '"logprobs":null')
            : event,
        );
      asked.response.end(bare.join(''));
    };
    const response = await gateway.chat({ messages: userSays('D21 bare'), stream: true });
    expect(await response.text()).toContain('let me');
    expect(await untrainable({ turnId: response.headers.get('x-hindcast-turn-id')!, text: '' })).toBe(
      'length-mismatch',
    );
  });

  it('D29 a last chunk without log-probs fails nothing', async () => {
    engine.script = (asked) => {
      engine.openStream(asked);
      const events = engine.events(asked, answerOf('one two'));
      // One more, as after a token that is only an end.
      const finish = events.findIndex((event) => event.includes('"finish_reason":"stop"'));
      const bare = events[finish]!.replace(/"logprobs":\{"content":.*?\}\]\}/, '"logprobs":null').replace(
        /"token_ids":\[\d+\]/,
        '"token_ids":null',
      );
      asked.response.end([...events.slice(0, finish), bare, ...events.slice(finish + 1)].join(''));
    };
    const response = await gateway.chat({ messages: userSays('D29'), stream: true });
    expect((await response.text()).endsWith('data: [DONE]\n\n')).toBe(true);
    const turnId = response.headers.get('x-hindcast-turn-id')!;
    // SGLang’s finish never has any; vLLM’s holds the last token.
    expect(await untrainable({ turnId, text: '' })).toBe(dialect === 'sglang' ? null : 'length-mismatch');
  });

  it('a client that asks for everything itself gets the engine’s bytes', async () => {
    const asking: Json =
      dialect === 'vllm'
        ? { return_token_ids: true }
        : { return_input_ids_in_sglext: true, return_output_ids_in_sglext: true };
    let sent = '';
    engine.script = (asked) => {
      engine.openStream(asked);
      sent = engine.events(asked, callingAnswer).join('');
      asked.response.end(sent);
    };
    const body = { messages: userSays('all of it'), tools: someTools, logprobs: true, stream: true, ...asking };
    const response = await gateway.chat({ ...body, stream_options: { include_usage: true } });
    expect(await response.text()).toBe(sent);
  });

  it('a client that asks for nothing gets the engine’s bytes without what Hindcast asked for', async () => {
    let sent: string[] = [];
    engine.script = (asked) => {
      engine.openStream(asked);
      sent = engine.events(asked, callingAnswer);
      asked.response.end(sent.join(''));
    };
    const response = await gateway.chat({ messages: userSays('none of it'), tools: someTools, stream: true });
    const expected = sent
      .filter((event) => !/"usage":\{|"sglext":/.test(event))
      .map((event) => event.replace(/"logprobs":\{"content":\[.*?\]\},(?="finish_reason")/, ''))
      .map((event) => event.replace(/,"(prompt_)?token_ids":\[[\d,]*\]/g, ''));
    expect(await response.text()).toBe(expected.join(''));
  });

  it('an error in the stream: as its first event it is a status, later it ends the answer', async () => {
    engine.script = (asked) => {
      engine.openStream(asked);
      engine.breakOff(asked, 503, 'no room');
    };
    const refused = await gateway.chat({ messages: userSays('first'), stream: true });
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ error: { message: 'no room', code: 503 } });
    engine.script = (asked) => {
      engine.openStream(asked);
      for (const event of engine.events(asked, answerOf('one two three')).slice(0, 3)) asked.response.write(event);
      engine.breakOff(asked, 500, 'died');
    };
    const broken = await gateway.chat({ messages: userSays('later'), stream: true });
    expect(await broken.text()).toContain('died');
    const turnId = broken.headers.get('x-hindcast-turn-id')!;
    expect((await bus.messageOf('turnClosed', turnId)).body.reason).toBe('failed');
    expect(await bus.capture(turnId)).toBeNull();
  });
});
