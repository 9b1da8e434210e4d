import type { Capture } from '@hindcast/contracts';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine, type EngineCall, type FakeAnswer, type FakeToken } from './testing/fake-engine';
import { sglangWire } from './testing/fake-sglang';
import {
  BusReader,
  dataOf,
  eventually,
  startTestGateway,
  userSays,
  type RunningGateway,
} from './testing/gateway-harness';
import { someTools } from './testing/tool-conversation';

type Json = Record<string, unknown>;

/** What a turn's message says of its sampled ids. */
const shown = (text: string, id: number, delta?: FakeToken['delta']): FakeToken => ({
  text,
  id,
  logProb: -id / 64,
  ...(delta !== undefined && { delta }),
});
const idsOf = ({ tokens }: FakeAnswer): number[] => tokens.map(({ id }) => id);
const call = (index: number, id: string, name: string): FakeToken['delta'] => ({
  toolCalls: [{ index, id, name, arguments: '' }],
});
const piece = (index: number, text: string): FakeToken['delta'] => ({ toolCalls: [{ index, arguments: text }] });

const thinkingAnswer: FakeAnswer = {
  promptIds: [9, 8, 7],
  tokens: [
    shown('<think>', 1, null),
    shown('let me', 2, { reasoning: 'let me' }),
    shown(' see', 3, { reasoning: ' see' }),
    shown('</think>', 4, null),
    shown('Yes.', 5),
    shown('<|im_end|>', 6, null),
  ],
};
const callingAnswer: FakeAnswer = {
  promptIds: [9, 8],
  tokens: [
    shown('Looking. ', 1),
    shown('<tool_call>', 2, null),
    shown('read', 3, call(0, 'call_a', 'read_file')),
    shown('{"path":', 4, piece(0, '{"path":')),
    shown('<sep>', 5, call(1, 'call_b', 'search')),
    shown('"é"}', 6, {
      toolCalls: [
        { index: 0, arguments: '"é"}' },
        { index: 1, arguments: '{"q"' },
      ],
    }),
    shown(':1}', 7, piece(1, ':1}')),
    shown('</tool_call>', 8, null),
  ],
};

describe.each(['vllm', 'sglang'] as const)('D16 capture from %s', (dialect) => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start(dialect);
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, POLICY_DIALECT: dialect });
    bus = await BusReader.connect(nats.url);
    await eventually(async () => (await (await fetch(`${gateway.url}/readyz`)).text()).includes('"degraded":[]'));
  });
  afterAll(async () => {
    const [ended, stored] = await Promise.all(
      ['answers_ended_total', 'turns_stored_total'].map((name) => gateway.metric(name)),
    );
    expect(ended).toBeGreaterThan(0);
    expect(ended).toBe(stored);
    await gateway.stop();
    await bus.close();
    await engine.stop();
    await nats.stop();
  });
  beforeEach(() => {
    engine.calls.length = 0;
  });

  interface Asked {
    readonly turnId: string;
    readonly text: string;
  }
  async function ask(
    body: Json,
    answer: FakeAnswer,
    change: (asked: EngineCall) => void = () => undefined,
  ): Promise<Asked> {
    engine.script = (asked) => {
      change(asked);
      engine.answer(asked, answer);
    };
    const response = await gateway.chat(body);
    const text = await response.text();
    expect([response.status, text.slice(0, 200)]).toEqual([200, expect.anything()]);
    return { turnId: response.headers.get('x-hindcast-turn-id')!, text };
  }
  const sampleOf = async ({ turnId }: Asked): Promise<Capture> => {
    expect((await bus.messageOf('turnCaptured', turnId)).body.untrainable).toBeNull();
    return (await bus.capture(turnId))!;
  };
  const untrainable = async ({ turnId }: Asked): Promise<string | null> =>
    (await bus.messageOf('turnCaptured', turnId)).body.untrainable;
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

  it('D6 the second turn’s ids are those of its own prompt, not the first turn’s with more behind them', async () => {
    const first = { promptIds: [1, 2], tokens: [shown('he', 10), shown('llo', 11)] };
    const second = { promptIds: [1, 2, 99, 3], tokens: [shown('bye', 12)] };
    const a = await ask({ messages: userSays('D6') }, first);
    const b = await ask({ messages: userSays('D6', 'hello', 'next') }, second);
    const [one, two] = [await sampleOf(a), await sampleOf(b)];
    expect([[...one.promptIds], [...one.responseIds]]).toEqual([
      [1, 2],
      [10, 11],
    ]);
    expect([[...two.promptIds], [...two.responseIds]]).toEqual([[1, 2, 99, 3], [12]]);
    expect((await bus.messageOf('turnPaired', a.turnId)).body.nextState[0]!.text).toBe('next');
  });

  it('D7 D8 a client that drops the thinking: each turn has the prompt ids really sent, and nothing fails', async () => {
    const thought = { promptIds: [1], tokens: [shown('<think>x</think>', 20), shown('hi', 21)] };
    const a = await ask({ messages: userSays('D7') }, thought);
    const b = await ask(
      { messages: userSays('D7', 'hi', 'again') },
      { promptIds: [1, 21, 4], tokens: [shown('yo', 22)] },
    );
    const parsed = await ask({ messages: userSays('D8'), stream: true }, thinkingAnswer);
    const c = await ask({ messages: userSays('D8', 'Yes.', 'again') }, answerOf('ok'));
    expect([...(await sampleOf(a)).responseIds]).toEqual([20, 21]);
    expect([...(await sampleOf(b)).promptIds]).toEqual([1, 21, 4]);
    for (const { turnId } of [a, parsed])
      expect((await bus.messageOf('turnPaired', turnId)).body.nextState).toHaveLength(1);
    await sampleOf(c);
  });

  it('D12 fifty interleaved sessions: every sample’s prompt and answer carry the same mark', async () => {
    engine.script = (asked) => {
      const marks = (asked.body['messages'] as { content: string }[]).map(({ content }) =>
        Number(content.split(' ').at(-1)),
      );
      const mark = marks.at(-1)!;
      engine.answer(asked, { promptIds: marks, tokens: [shown(`answer ${mark}`, mark)] });
    };
    const histories = Array.from({ length: 50 }, (_, session) => userSays(`session ${1000 + session}`));
    const turns: { turnId: string; mark: number }[] = [];
    for (let round = 0; round < 3; round++) {
      await Promise.all(
        histories.map(async (history, session) => {
          const response = await gateway.chat({ messages: history, stream: (session + round) % 2 === 0 });
          await response.text();
          const mark = 1000 + session + 100 * round;
          turns.push({ turnId: response.headers.get('x-hindcast-turn-id')!, mark });
          history.push(
            { role: 'assistant', content: `answer ${mark}` },
            { role: 'user', content: `then ${mark + 100}` },
          );
        }),
      );
    }
    for (const { turnId, mark } of turns) {
      const sample = (await eventually(() => bus.capture(turnId)))!;
      expect([sample.promptIds.at(-1), ...sample.responseIds]).toEqual([mark, mark]);
      if (mark < 1200)
        expect((await bus.messageOf('turnPaired', turnId)).body.nextState[0]!.text).toBe(`then ${mark + 100}`);
    }
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
