import { nextTurnIsServed, startFailureStage } from './testing/failure-stage';
import { answerOf, type FakeEngine } from './testing/fake-engine';
import { eventually, userSays, type BusReader, type RunningGateway } from './testing/gateway-harness';
import type { GatewayStage } from './testing/gateway-stage';

describe('the turns of clients that leave', () => {
  let stage: GatewayStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;

  beforeAll(async () => {
    stage = await startFailureStage();
    ({ engine, gateway, bus } = stage);
  });
  afterAll(() => stage.stop());
  beforeEach(() => {
    engine.calls.length = 0;
    engine.script = (call) => engine.answer(call, answerOf('fine'));
  });
  afterEach(() => nextTurnIsServed(stage));

  it.each([
    { name: 'D36 mid-stream', stream: true, started: true },
    { name: 'D38 before the first byte', stream: true, started: false },
    { name: 'D39 not streamed', stream: false, started: false },
  ])('a client that leaves $name closes the engine’s request', async ({ stream, started }) => {
    engine.script = (call) => {
      if (!started) return;
      engine.openStream(call);
      for (const event of engine.events(call, answerOf('one two three')).slice(0, 3)) call.response.write(event);
    };
    const leaving = new AbortController();
    const answer = gateway.chat({ messages: userSays(`leave ${stream} ${started}`), stream }, {}, leaving.signal);
    let turnId: string | null = null;
    if (started) {
      const response = await answer;
      turnId = response.headers.get('x-hindcast-turn-id');
      await response.body!.getReader().read();
    } else answer.catch(() => undefined);
    const call = await eventually(() => Promise.resolve(engine.calls[0]));
    leaving.abort();
    await call.aborted;
    if (turnId)
      expect((await bus.messageOf('turnClosed', turnId)).body).toMatchObject({
        reason: 'failed',
        detail: 'the client went away',
      });
  });

  it.each([
    { why: 'an empty finish reason', choice: { index: 0, delta: { content: 'one' }, finish_reason: '' } },
    { why: 'a choice nobody asked for', choice: { index: 1, delta: { content: 'one' }, finish_reason: 'stop' } },
  ])('$why finishes no answer: the client that leaves after it ends it', async ({ choice }) => {
    engine.script = (call) => {
      engine.openStream(call);
      call.response.write(`data: ${JSON.stringify({ id: 'begun', model: 'seed', choices: [choice] })}\n\n`);
    };
    const leaving = new AbortController();
    const response = await gateway.chat({ messages: userSays(choice.finish_reason), stream: true }, {}, leaving.signal);
    await response.body!.getReader().read();
    leaving.abort();
    await engine.calls[0]!.aborted;
    const closed = await bus.messageOf('turnClosed', response.headers.get('x-hindcast-turn-id')!);
    expect(closed.body).toMatchObject({ reason: 'failed', detail: 'the client went away' });
  });

  it('D37 a hundred clients that leave hold no engine connection', async () => {
    engine.script = (call) => {
      engine.openStream(call);
      call.response.write(engine.events(call, answerOf('one two'))[0]);
    };
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        const leaving = new AbortController();
        const response = await gateway.chat({ messages: userSays('x'), stream: true }, {}, leaving.signal);
        await response.body!.getReader().read();
        leaving.abort();
      }),
    );
    await Promise.all(engine.calls.map((call) => call.aborted));
    await eventually(() =>
      Promise.resolve(engine.calls.every((call) => call.response.socket === null || call.response.socket.destroyed)),
    );
  });

  it('an answer that the engine had finished is complete although the client left', async () => {
    let finish = (): void => undefined;
    engine.script = (call) => {
      engine.openStream(call);
      const events = engine.events(call, answerOf('one two'));
      for (const event of events.slice(0, 3)) call.response.write(event);
      finish = () => call.response.end(events.slice(3).join(''));
    };
    const leaving = new AbortController();
    const response = await gateway.chat({ messages: userSays('finished'), stream: true }, {}, leaving.signal);
    const turnId = response.headers.get('x-hindcast-turn-id')!;
    // The third event carries the finish reason: the gateway holds it, and releases it when nothing more comes.
    const reader = response.body!.getReader();
    let text = '';
    while (!text.includes('finish_reason":"stop"')) text += Buffer.from((await reader.read()).value!).toString();
    leaving.abort();
    await reader.closed.catch(() => undefined);
    finish();
    expect((await bus.messageOf('turnCaptured', turnId)).body.untrainable).toBeNull();
    expect(await bus.capture(turnId)).not.toBeNull();
  });
});
