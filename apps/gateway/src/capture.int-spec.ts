import { startNatsServer } from '../../../libs/platform/src/testing/nats-server';
import {
  callingAnswer,
  idsOf,
  shown,
  startCaptureStage,
  thinkingAnswer,
  type CaptureStage,
} from './testing/capture-stage';
import { answerOf, FakeEngine, type EngineCall } from './testing/fake-engine';
import { sglangWire } from './testing/fake-sglang';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';
import { someTools } from './testing/tool-conversation';

describe.each(['vllm', 'sglang'] as const)('D16 capture from %s', (dialect) => {
  let stage: CaptureStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;
  let ask: CaptureStage['ask'];
  let sampleOf: CaptureStage['sampleOf'];
  let untrainable: CaptureStage['untrainable'];

  beforeAll(async () => {
    stage = await startCaptureStage(dialect);
    ({ engine, gateway, bus, ask, sampleOf, untrainable } = stage);
  });
  afterAll(() => stage.stop());
  beforeEach(() => {
    engine.calls.length = 0;
  });

  const without =
    (...fields: string[]) =>
    (asked: EngineCall): void => {
      for (const field of fields) delete asked.body[field];
    };
  const idFields = ['return_token_ids', 'return_input_ids_in_sglext', 'return_output_ids_in_sglext'];

  describe.each([true, false])('streamed: %s', (stream) => {
    it('D3 the ids are the engine’s, whatever their text would be tokenised to', async () => {
      const answer = { promptIds: [5, 6], tokens: [shown('hel', 1), shown('lo', 2)] };
      const sample = await sampleOf(await ask({ messages: userSays(`D3 ${stream}`), stream }, answer));
      expect([[...sample.promptIds], [...sample.responseIds]]).toEqual([
        [5, 6],
        [1, 2],
      ]);
      expect([...sample.rolloutLogProbs]).toEqual([-1 / 64, -2 / 64]);
    });

    it('D14 ids of control tokens that never show are stored in their place', async () => {
      const asked = await ask({ messages: userSays(`D14 ${stream}`), tools: someTools, stream }, callingAnswer);
      const sample = await sampleOf(asked);
      expect([...sample.responseIds]).toEqual(idsOf(callingAnswer));
      expect(asked.text).not.toMatch(/<tool_call>|<sep>/);
      expect(sample.header.answer).toMatchObject({
        content: 'Looking. ',
        tool_calls: [
          { id: 'call_a', type: 'function', function: { name: 'read_file', arguments: '{"path":"é"}' } },
          { id: 'call_b', type: 'function', function: { name: 'search', arguments: '{"q":1}' } },
        ],
      });
      expect(sample.header.finishReason).toBe('tool_calls');
    });

    it('D21 reasoning comes with its log-probs, bundled into few chunks or not', async () => {
      for (const steps of [[], [6], [3, 1, 2]]) {
        const asked = await ask(
          { messages: userSays(`D21 ${stream} ${steps.join()}`), stream },
          { ...thinkingAnswer, steps },
        );
        const sample = await sampleOf(asked);
        expect([...sample.responseIds]).toEqual(idsOf(thinkingAnswer));
        expect([...sample.rolloutLogProbs]).toEqual(thinkingAnswer.tokens.map(({ logProb }) => logProb));
        const field = dialect === 'vllm' ? 'reasoning' : 'reasoning_content';
        expect(sample.header.answer).toMatchObject({ content: 'Yes.', [field]: 'let me see' });
      }
    });

    it('D15 an answer held to a JSON schema is captured like any other', async () => {
      const response_format = {
        type: 'json_schema',
        json_schema: { name: 'x', strict: true, schema: { type: 'object', properties: { a: { type: 'integer' } } } },
      };
      const answer = { tokens: [shown('{"a"', 1), shown(':1}', 2)] };
      const sample = await sampleOf(
        await ask({ messages: userSays(`D15 ${stream}`), response_format, stream }, answer),
      );
      expect([...sample.responseIds]).toEqual([1, 2]);
      expect(engine.calls[0]!.body['response_format']).toEqual(response_format);
    });

    it('content parts of any kind are served, and captured with the ids that the engine gives', async () => {
      const content = [
        { type: 'text', text: `look ${stream}` },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } },
        { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
        { type: 'file', file: { file_id: 'file-1' } },
      ];
      const messages = [{ role: 'user', content }];
      const answer = { promptIds: [1, 151655, 151655, 2], tokens: [shown('a cat', 7)] };
      const sample = await sampleOf(await ask({ messages, stream }, answer));
      expect([...sample.promptIds]).toEqual([1, 151655, 151655, 2]);
      expect(sample.header.messages).toEqual(messages);
      expect(engine.calls[0]!.body['messages']).toEqual(messages);
    });

    it('D19 D11 D17 no ids, or no log-probs: served, never filled in', async () => {
      const messages = userSays(`D19 ${stream}`);
      const unnamed = await ask({ messages, stream }, answerOf('one two'), without(...idFields));
      expect(unnamed.text).toContain('two');
      expect(await untrainable(unnamed)).toBe('no-token-ids');
      const unscored = await ask({ messages, stream }, answerOf('one two'), without('logprobs'));
      expect(await untrainable(unscored)).toBe('no-log-probs');
      expect(await bus.capture(unnamed.turnId)).toBeNull();
      expect(await bus.capture(unscored.turnId)).toBeNull();
    });

    it('D30 prompt ids that are not those that the engine counted are refused', async () => {
      const asked = await ask(
        { messages: userSays(`D30 ${stream}`), stream },
        { ...answerOf('one two'), promptIds: [1, 2], usage: { prompt_tokens: 3, completion_tokens: 2 } },
      );
      expect(await untrainable(asked)).toBe('prompt-mismatch');
    });

    it('D30 a prompt that the request gives as ids must come back as it was', async () => {
      for (const input_ids of [
        [1, 2, 3],
        [1, 2, 4],
      ]) {
        const body = { messages: userSays(`D30 ids ${stream} ${input_ids.join()}`), input_ids, stream };
        const asked = await ask(body, { ...answerOf('one two'), promptIds: [1, 2, 3] });
        expect(await untrainable(asked)).toBe(input_ids[2] === 3 ? null : 'prompt-mismatch');
      }
    });

    it.each([
      { why: 'a null', value: null },
      { why: 'the clamped −∞', value: -9999 },
      { why: 'NaN', value: NaN },
    ])('D23 D24 a log-prob that is $why is refused', async ({ value }) => {
      // Python’s `json` refuses NaN before anything is sent.
      if (Number.isNaN(value) && dialect === 'vllm' && !stream) return;
      const answer = { tokens: [shown('one', 1), { text: ' two', id: 2, logProb: value }] };
      expect(await untrainable(await ask({ messages: userSays(`D24 ${stream} ${value}`), stream }, answer))).toBe(
        'non-finite-log-probs',
      );
    });

    it('several choices: each has its own ids', async () => {
      const answer = { ...answerOf('first one'), others: [{ tokens: [shown('second', 71), shown(' two', 72)] }] };
      engine.script = (asked) => engine.answer(asked, answer);
      const response = await gateway.chat({ messages: userSays(`n ${stream}`), n: 2, stream });
      await response.text();
      const turns = response.headers.get('x-hindcast-turn-ids')!.split(',');
      const samples = await Promise.all(turns.map((turnId) => eventually(() => bus.capture(turnId))));
      expect(samples.map(({ responseIds }) => [...responseIds])).toEqual([
        [100, 101],
        [71, 72],
      ]);
    });

    it.each([400, 404, 500, 503])('a %i of the server reaches the client with its message', async (status) => {
      engine.script = (asked) => engine.refuse(asked, status, `no: ${status}`);
      const response = await gateway.chat({ messages: userSays('refused'), stream });
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ error: { message: `no: ${status}` } });
    });
  });
});

describe('SGLang without a parser', () => {
  it('loses the log-prob of a token that shows nothing: served, refused, counted', async () => {
    const nats = await startNatsServer();
    const engine = await FakeEngine.start(sglangWire(false));
    const gateway = await startTestGateway({
      NATS_URL: nats.url,
      POLICY_BASE_URL: engine.url,
      POLICY_DIALECT: 'sglang',
    });
    const bus = await BusReader.connect(nats.url);
    engine.script = (asked) => engine.answer(asked, { tokens: [shown('hi', 1), shown('<|im_end|>', 2, null)] });
    for (const stream of [true, false]) {
      const response = await gateway.chat({ messages: userSays('hello'), stream });
      await response.text();
      const { body } = await bus.messageOf('turnCaptured', response.headers.get('x-hindcast-turn-id')!);
      expect(body.untrainable).toBe(stream ? 'length-mismatch' : null);
    }
    await gateway.stop();
    await bus.close();
    await engine.stop();
    await nats.stop();
  });
});
