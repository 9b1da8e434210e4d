import { shown, startCaptureStage, thinkingAnswer, type CaptureStage } from './testing/capture-stage';
import { answerOf, type FakeEngine } from './testing/fake-engine';
import { eventually, userSays, type BusReader, type RunningGateway } from './testing/gateway-harness';

describe.each(['vllm', 'sglang'] as const)('conversations captured from %s', (dialect) => {
  let stage: CaptureStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;
  let ask: CaptureStage['ask'];
  let sampleOf: CaptureStage['sampleOf'];

  beforeAll(async () => {
    stage = await startCaptureStage(dialect);
    ({ engine, gateway, bus, ask, sampleOf } = stage);
  });
  afterAll(() => stage.stop());
  beforeEach(() => {
    engine.calls.length = 0;
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
});
