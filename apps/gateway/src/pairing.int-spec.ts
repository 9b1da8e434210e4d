import { Log } from '@hindcast/platform';
import { answerOf, sendJson, type FakeEngine } from './testing/fake-engine';
import { eventually, userSays, type BusReader, type RunningGateway } from './testing/gateway-harness';
import { continued, resetEngine, startPairingStage, type PairingStage } from './testing/pairing-stage';

describe('pairing and sessions', () => {
  let stage: PairingStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let other: RunningGateway;
  let bus: BusReader;
  let ask: PairingStage['ask'];

  beforeAll(async () => {
    stage = await startPairingStage();
    ({ engine, gateway, other, bus, ask } = stage);
  });
  afterAll(() => stage.stop());
  beforeEach(() => resetEngine(stage));

  it('the same conversation open three times: the oldest pairs first, exactly one each time', async () => {
    const turns = [await ask(userSays('same')), await ask(userSays('same')), await ask(userSays('same'))];
    for (const [index, turnId] of turns.entries()) {
      await ask(continued('same', `next ${index}`), { 'x-turn-type': 'side' });
      expect((await bus.messageOf('turnPaired', turnId)).body.nextState[0]!.text).toBe(`next ${index}`);
    }
    expect((await bus.messages('turnPaired')).filter(({ turnId }) => turns.includes(turnId!))).toHaveLength(3);
  });

  it('twenty requests at once that continue one turn pair it once', async () => {
    const turnId = await ask(userSays('race'));
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        ask(continued('race'), { 'x-turn-type': 'side' }, index % 2 ? gateway : other),
      ),
    );
    await bus.messageOf('turnPaired', turnId);
    await eventually(async () => !(await bus.openKeys()).length || (await bus.messages('turnPaired')).length > 0);
    expect((await bus.messages('turnPaired')).filter((message) => message.turnId === turnId)).toHaveLength(1);
  });

  it('D12 fifty interleaved conversations keep their own next states', async () => {
    engine.script = (call) => {
      const messages = call.body['messages'] as { content: string }[];
      engine.answer(call, answerOf(`answer-to-${messages.at(-1)!.content}`));
    };
    const names = Array.from({ length: 50 }, (_, index) => `marker${index}`);
    const turns = await Promise.all(names.map((name) => ask(userSays(name))));
    await Promise.all(
      names.map((name) => ask(userSays(name, `answer-to-${name}`, `next-${name}`), { 'x-turn-type': 'side' })),
    );
    for (const [index, turnId] of turns.entries()) {
      const { body } = await bus.messageOf('turnPaired', turnId);
      const name = names[index]!;
      expect([body.conversation[0]!.text, body.answer, body.nextState[0]!.text]).toEqual([
        name,
        `answer-to-${name}`,
        `next-${name}`,
      ]);
      expect((await bus.capture(turnId))!.header.messages).toEqual(userSays(name));
    }
  });

  it('all parallel tool results are the next state', async () => {
    const calls = ['a', 'b'].map((id) => ({
      id: `call_${id}`,
      type: 'function',
      function: { name: `tool_${id}`, arguments: '{"n": 1}' },
    }));
    engine.script = (call) => {
      const answer = engine.whole(call, answerOf('')) as {
        choices: { message: object; token_ids: number[]; logprobs: object }[];
        usage: object;
      };
      answer.choices[0]!.message = { role: 'assistant', content: null, tool_calls: calls };
      answer.choices[0]!.token_ids = [5, 6];
      answer.choices[0]!.logprobs = { content: [{ logprob: -1 }, { logprob: -2 }] };
      answer.usage = { prompt_tokens: 3, completion_tokens: 2 };
      sendJson(call.response, 200, answer);
    };
    const turnId = await ask(userSays('use tools'));
    engine.script = (call) => engine.answer(call, answerOf('done'));
    await ask([
      ...userSays('use tools'),
      // Another client's spelling of the same calls: new ids, other white space.
      {
        role: 'assistant',
        content: '',
        tool_calls: calls.map((call) => ({
          ...call,
          id: `x${call.id}`,
          function: { ...call.function, arguments: '{"n":1}' },
        })),
      },
      { role: 'tool', tool_call_id: 'xcall_a', content: 'ra' },
      { role: 'tool', tool_call_id: 'xcall_b', content: 'rb' },
    ]);
    expect((await bus.messageOf('turnPaired', turnId)).body.nextState).toEqual([
      { role: 'tool', text: 'ra', toolName: 'tool_a' },
      { role: 'tool', text: 'rb', toolName: 'tool_b' },
    ]);
  });

  it('D1 a side request is not captured, which a counter says, and gives the next state', async () => {
    const turnId = await ask(userSays('main one'));
    const response = await gateway.chat({ messages: continued('main one'), turn_type: 'side' });
    await response.text();
    expect(response.headers.get('x-hindcast-turn-id')).toBeNull();
    expect(engine.calls.at(-1)!.body).not.toHaveProperty('return_token_ids');
    await bus.messageOf('turnPaired', turnId);
    expect(await gateway.metric('skipped_total', 'side')).toBeGreaterThan(0);
  });

  it('a repeated request supersedes its sibling only within one explicit session', async () => {
    const session = { 'x-session-id': 'retry' };
    const first = await ask(userSays('again'), session);
    const second = await ask(userSays('again'), session);
    expect((await bus.messageOf('turnClosed', first)).body.reason).toBe('superseded');
    await ask(continued('again'), { ...session, 'x-turn-type': 'side' });
    await bus.messageOf('turnPaired', second);
    const [one, two] = [await ask(userSays('free')), await ask(userSays('free'))];
    await ask(continued('free'), { 'x-turn-type': 'side' });
    await bus.messageOf('turnPaired', one);
    expect((await bus.messages('turnClosed')).map(({ turnId }) => turnId)).not.toContain(two);
  });

  it('X-Session-Done pairs what it continues and closes the rest of the session, its own answer with it', async () => {
    const session = { 'x-session-id': 'last' };
    const stray = await ask(userSays('stray'), session);
    const turnId = await ask(userSays('bye?'), session);
    const last = await ask(continued('bye?'), { ...session, 'x-session-done': 'true' });
    await bus.messageOf('turnPaired', turnId);
    for (const closed of [stray, last]) expect((await bus.messageOf('turnClosed', closed)).body.reason).toBe('expired');
  });

  it('POST /v1/sessions/{id}/end closes the session’s open turns and no other', async () => {
    const [mine, free] = [await ask(userSays('end me'), { 'x-session-id': 'a/b c' }), await ask(userSays('leave me'))];
    const response = await fetch(`${gateway.url}/v1/sessions/${encodeURIComponent('a/b c')}/end`, { method: 'POST' });
    expect(response.status).toBe(200);
    expect((await bus.messageOf('turnClosed', mine)).body.reason).toBe('expired');
    expect((await bus.messages('turnClosed')).map(({ turnId }) => turnId)).not.toContain(free);
  });

  it('D6 D7 each turn holds the prompt ids that were really sent', async () => {
    engine.script = (call) => engine.answer(call, answerOf('<think>x</think>hi', { promptIds: [1, 2] }));
    const first = await ask(userSays('think'));
    engine.script = (call) => engine.answer(call, answerOf('ok', { promptIds: [1, 2, 9] }));
    const second = await ask(userSays('think', 'hi', 'more'));
    await bus.messageOf('turnPaired', first);
    expect([...(await bus.capture(first))!.promptIds]).toEqual([1, 2]);
    expect([...(await bus.capture(second))!.promptIds]).toEqual([1, 2, 9]);
  });

  it.each([
    { name: 'D19 null ids', change: { tokens: [{ text: 'a', id: 1, logProb: null }] }, reason: 'non-finite-log-probs' },
    {
      name: 'D20 a swallowed token',
      change: { usage: { prompt_tokens: 3, completion_tokens: 9 } },
      reason: 'length-mismatch',
    },
    { name: 'the length limit', change: { finishReason: 'length' }, reason: 'truncated' },
  ])('$name: the answer is served, the turn is untrainable with a reason', async ({ change, reason }) => {
    engine.script = (call) => engine.answer(call, answerOf('one two', change));
    const turnId = await ask(userSays(`bad ${reason}`));
    expect((await bus.messageOf('turnCaptured', turnId)).body.untrainable).toBe(reason);
    expect(await gateway.metric('turns_untrainable_total', reason)).toBe(1);
  });

  it('D10 456 ids with 812 log-probs are refused with both numbers, the turn and its session', async () => {
    const logged = jest.spyOn(Log.prototype, 'info');
    const tokens = Array.from({ length: 812 }, (_, id) => ({ text: 'a', id, logProb: -1 }));
    engine.script = (call) => {
      const whole = engine.whole(call, { tokens }) as { choices: { token_ids: number[] }[] };
      whole.choices[0]!.token_ids.length = 456;
      sendJson(call.response, 200, whole);
    };
    const turnId = await ask(userSays('two lengths'), { 'x-session-id': 'lengths' });
    const { body } = await bus.messageOf('turnCaptured', turnId);
    expect(body.untrainable).toBe('length-mismatch');
    expect(logged).toHaveBeenCalledWith('turn.untrainable', {
      turnId,
      sessionId: body.sessionId,
      reason: 'length-mismatch',
      detail: '456 ids, 812 log-probs',
    });
    expect(body.sessionId).toMatch(/^[0-9a-f]{32}$/);
    logged.mockRestore();
  });

  it('D26 an answer sampled at another temperature is untrainable; SAMPLING=force samples at 1', async () => {
    const response = await gateway.chat({ messages: userSays('warm'), temperature: 0.6 });
    const turnId = response.headers.get('x-hindcast-turn-id')!;
    expect((await bus.messageOf('turnCaptured', turnId)).body.untrainable).toBe('off-policy:temperature');
    const forced = await other.chat({ messages: userSays('warm'), temperature: 0.6 }, { 'x-turn-type': 'main' });
    expect(engine.calls.at(-1)!.body['temperature']).toBe(1);
    expect(
      (await bus.messageOf('turnCaptured', forced.headers.get('x-hindcast-turn-id')!)).body.untrainable,
    ).toBeNull();
  });
});
