import { freePort, startNatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, type FakeEngine, type FakeAnswer, type FakeChoice } from './testing/fake-engine';
import {
  BusReader,
  dataOf,
  eventually,
  startTestGateway,
  userSays,
  type RunningGateway,
} from './testing/gateway-harness';
import { startGatewayStage, type GatewayStage } from './testing/gateway-stage';

/** A choice of one token per word, with ids of its own. */
function choiceOf(text: string, firstId: number): FakeChoice {
  const words = text.match(/\s*\S+/g) ?? [];
  return { tokens: words.map((word, index) => ({ text: word, id: firstId + index, logProb: -(firstId + index) / 8 })) };
}
const several = (...texts: string[]): FakeAnswer => {
  const [first, ...others] = texts.map((text, index) => choiceOf(text, 8 * (index + 1)));
  return { ...first!, others };
};

describe('several choices', () => {
  let stage: GatewayStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;

  beforeAll(async () => {
    stage = await startGatewayStage();
    ({ engine, gateway, bus } = stage);
  });
  afterAll(async () => {
    // Every choice that ended was written down, once.
    const [ended, stored] = await Promise.all(
      ['answers_ended_total', 'turns_stored_total'].map((name) => gateway.metric(name)),
    );
    expect(ended).toBe(stored);
    await stage.stop();
  });

  interface Asked {
    readonly turns: string[];
    readonly responseId: string;
  }
  async function ask(question: string, extra: object = {}, headers: Record<string, string> = {}): Promise<Asked> {
    const response = await gateway.chat({ messages: userSays(question), n: 2, ...extra }, headers);
    expect(response.status).toBe(200);
    const text = await response.text();
    const turns = response.headers.get('x-hindcast-turn-ids')!.split(',');
    expect(response.headers.get('x-hindcast-turn-id')).toBe(turns[0]);
    return { turns, responseId: /"id":"([^"]+)"/.exec(text)![1]! };
  }
  const proceed = async (question: string, answer: string): Promise<void> => {
    const response = await gateway.chat({ messages: userSays(question, answer, 'and?'), turn_type: 'side' });
    await response.text();
  };

  it.each([false, true])('each choice is a turn with its own ids and log-probs; streamed %s', async (stream) => {
    engine.script = (call) => engine.answer(call, { ...several('one two three', 'eins zwei'), promptIds: [7, 8] });
    const { turns, responseId } = await ask(`each ${stream}`, { stream });
    const captures = await Promise.all(turns.map((turnId) => eventually(() => bus.capture(turnId))));
    expect(captures.map(({ promptIds }) => [...promptIds])).toEqual([
      [7, 8],
      [7, 8],
    ]);
    expect(captures.map(({ responseIds }) => [...responseIds])).toEqual([
      [8, 9, 10],
      [16, 17],
    ]);
    expect(captures.map(({ rolloutLogProbs }) => [...rolloutLogProbs])).toEqual([
      [-1, -1.125, -1.25],
      [-2, -2.125],
    ]);
    expect(captures.map(({ header }) => header.responseId)).toEqual([responseId, `${responseId}:1`]);
    expect(captures.map(({ header }) => header.answer['content'])).toEqual(['one two three', 'eins zwei']);
    const events = await Promise.all(turns.map((turnId) => bus.messageOf('turnCaptured', turnId)));
    expect(events.map(({ body }) => [body.promptTokens, body.completionTokens])).toEqual([
      [2, 3],
      [2, 2],
    ]);
  });

  it('only the choice that is continued is paired, the others are superseded', async () => {
    engine.script = (call) => engine.answer(call, several('red', 'green', 'blue'));
    const { turns } = await ask('colour?', { n: 3 });
    await proceed('colour?', 'green');
    expect((await bus.messageOf('turnPaired', turns[1]!)).body.answer).toBe('green');
    for (const turnId of [turns[0]!, turns[2]!])
      expect((await bus.messageOf('turnClosed', turnId)).body).toEqual({
        reason: 'superseded',
        detail: `by choice ${turns[1]}`,
      });
    await proceed('colour?', 'red');
    expect((await bus.messages('turnPaired')).filter(({ turnId }) => turns.includes(turnId!))).toHaveLength(1);
  });

  it('two choices with the same text: one is paired, the other superseded, whatever comes at the same time', async () => {
    engine.script = (call) => engine.answer(call, several('same', 'same'));
    const { turns } = await ask('twins?', {}, { 'x-session-id': 'twins' });
    engine.script = (call) => engine.answer(call, answerOf('ok'));
    await Promise.all(Array.from({ length: 6 }, () => proceed('twins?', 'same')));
    await bus.messageOf('turnPaired', turns[0]!);
    expect((await bus.messageOf('turnClosed', turns[1]!)).body.reason).toBe('superseded');
    expect((await bus.messages('turnPaired')).map(({ turnId }) => turnId)).not.toContain(turns[1]);
  });

  it('a retry in one session supersedes all choices of the first attempt and none of its own', async () => {
    const session = { 'x-session-id': 'choices' };
    engine.script = (call) => engine.answer(call, several('a', 'b'));
    const first = await ask('retry?', {}, session);
    const second = await ask('retry?', {}, session);
    for (const turnId of first.turns) expect((await bus.messageOf('turnClosed', turnId)).body.detail).toMatch(/^by /);
    await gateway.chat({ messages: userSays('retry?', 'b', 'and?'), session_id: 'choices', turn_type: 'side' });
    await bus.messageOf('turnPaired', second.turns[1]!);
    const rest = await bus.messageOf('turnClosed', second.turns[0]!);
    expect(rest.body.detail).toBe(`by choice ${second.turns[1]}`);
  });

  it('usage is the total of the choices: a token swallowed in one of them makes none trainable', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 6 };
    engine.script = (call) => engine.answer(call, { ...several('one two three', 'eins zwei'), usage });
    const { turns } = await ask('swallowed?', { stream: true });
    for (const turnId of turns)
      expect((await bus.messageOf('turnCaptured', turnId)).body.untrainable).toBe('length-mismatch');
  });

  it('a choice that the engine did not send is a turn without an answer, its counts are null', async () => {
    engine.script = (call) => engine.answer(call, several('alone'));
    const { turns } = await ask('where is the other?');
    expect((await bus.messageOf('turnCaptured', turns[0]!)).body.untrainable).toBeNull();
    expect((await bus.messageOf('turnCaptured', turns[1]!)).body).toMatchObject({
      untrainable: 'malformed-stream',
      completionTokens: null,
    });
  });

  it('D53 a stream that breaks after one choice had finished trains none: what the engine counted never came', async () => {
    engine.script = (call) => {
      engine.openStream(call);
      const events = engine.events(call, several('one', 'eins zwei drei'));
      // The roles of both, the only token of choice 0 with its end, the first of choice 1.
      call.response.write(events.slice(0, 4).join(''), () => call.response.socket!.destroy());
    };
    const response = await gateway.chat({ messages: userSays('break?'), n: 2, stream: true });
    const turns = response.headers.get('x-hindcast-turn-ids')!.split(',');
    expect(dataOf(await response.text()).at(-1)).toContain('"error"');
    expect((await bus.messageOf('turnCaptured', turns[0]!)).body).toMatchObject({
      untrainable: 'length-mismatch',
      completionTokens: 1,
    });
    expect(await bus.capture(turns[0]!)).toBeNull();
    expect((await bus.messageOf('turnClosed', turns[1]!)).body.reason).toBe('failed');
    expect(await bus.capture(turns[1]!)).toBeNull();
  });

  it('asked and continued while NATS is away: the spool pairs the one and supersedes the other once it is there', async () => {
    const port = await freePort();
    const early = await startTestGateway({ NATS_URL: `nats://127.0.0.1:${port}`, POLICY_BASE_URL: engine.url });
    engine.script = (call) => engine.answer(call, several('heads', 'tails'));
    const response = await early.chat({ messages: userSays('coin?'), n: 2, session_id: 'coin' });
    const turns = response.headers.get('x-hindcast-turn-ids')!.split(',');
    await response.text();
    engine.script = (call) => engine.answer(call, answerOf('ok'));
    const next = { messages: userSays('coin?', 'tails', 'again'), session_id: 'coin', turn_type: 'side' };
    await (await early.chat(next)).text();
    const late = await startNatsServer({ port });
    const reader = await BusReader.connect(late.url);
    await reader.messageOf('turnPaired', turns[1]!);
    expect((await reader.messageOf('turnClosed', turns[0]!)).body.reason).toBe('superseded');
    await eventually(async () => (await reader.openKeys()).length === 0);
    await reader.close();
    await early.stop();
    await late.stop();
  });

  it.each([0, 129, 1.5, '2', true])('n = %j is a 400 that names it', async (n) => {
    const response = await gateway.chat({ messages: userSays('how many?'), n });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: object }).error).toMatchObject({ param: 'n' });
  });

  it('one choice has no list of turns', async () => {
    engine.script = (call) => engine.answer(call, answerOf('one'));
    const response = await gateway.chat({ messages: userSays('one only'), n: 1 });
    expect(response.headers.get('x-hindcast-turn-ids')).toBeNull();
    await bus.messageOf('turnCaptured', response.headers.get('x-hindcast-turn-id')!);
  });
});
