import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { connected } from './testing/chat-request';
import { answerOf, FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

const ADDRESS = 'ann@mail.example.org';

describe('REDACTION', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let bus: BusReader;
  let folder: string;
  let gateway: RunningGateway;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    bus = await BusReader.connect(nats.url);
    folder = mkdtempSync(join(tmpdir(), 'hindcast-redaction-'));
  });
  afterEach(() => gateway.stop());
  afterAll(async () => {
    await bus.close();
    await engine.stop();
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = async (REDACTION: string): Promise<void> => {
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, REDACTION });
    await eventually(() => connected(gateway));
  };
  const ask = async (messages: object[]): Promise<string> => {
    const response = await gateway.chat({ messages });
    expect(response.status).toBe(200);
    await response.text();
    return response.headers.get('x-hindcast-turn-id')!;
  };
  const module = (name: string, source: string): string => {
    writeFileSync(join(folder, name), source);
    return join(folder, name);
  };

  it('replaces personal data in what follows an answer, and trains the turn', async () => {
    await start('builtin');
    const turnId = await ask(userSays('first?'));
    await ask(userSays('first?', 'Hello', `write to ${ADDRESS}`));
    expect((await bus.messageOf('turnPaired', turnId)).body.nextState[0]!.text).toBe('write to [email]');
    expect(await bus.capture(turnId)).not.toBeNull();
  });

  it('captures nothing of a turn whose prompt holds personal data, and passes it to the engine as it is', async () => {
    await start('builtin');
    const turnId = await ask(userSays(`I am ${ADDRESS}`));
    expect((await bus.messageOf('turnCaptured', turnId)).body.untrainable).toBe('redacted');
    expect(await bus.capture(turnId)).toBeNull();
    expect(JSON.stringify(engine.calls.at(-1)!.body)).toContain(ADDRESS);
  });

  it('captures nothing of a turn whose template arguments hold personal data', async () => {
    await start('builtin');
    const response = await gateway.chat({ messages: userSays('Who am I?'), chat_template_kwargs: { user: ADDRESS } });
    await response.text();
    const turnId = response.headers.get('x-hindcast-turn-id')!;
    expect((await bus.messageOf('turnCaptured', turnId)).body.untrainable).toBe('redacted');
    expect(await bus.capture(turnId)).toBeNull();
  });

  it('captures nothing of a turn whose answer holds personal data', async () => {
    await start('builtin');
    engine.script = (call) => engine.answer(call, answerOf(`ask ${ADDRESS}`));
    const turnId = await ask(userSays('whom?'));
    engine.script = (call) => engine.answer(call, answerOf('Hello'));
    expect((await bus.messageOf('turnCaptured', turnId)).body.untrainable).toBe('redacted');
  });

  it('stores nothing of a content that another of the same message replaced', async () => {
    await start('builtin');
    const body = `{"messages":[{"role":"user","content":"I am ${ADDRESS}","content":"Who am I?"}]}`;
    const headers = { 'content-type': 'application/json' };
    const answered = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
    await answered.text();
    const turnId = answered.headers.get('x-hindcast-turn-id')!;
    await bus.messageOf('turnCaptured', turnId);
    const stored = (await (await bus.bucket('captures')).get(turnId))!.string();
    expect(stored).toContain('Who am I?');
    expect(stored).not.toContain(ADDRESS);
  });

  it('redacts what a person says of an answer', async () => {
    await start('builtin');
    const turnId = await ask(userSays('judge this'));
    const body = { turn_id: turnId, reward: -1, comment: `tell ${ADDRESS}`, correction: `${ADDRESS} knows` };
    const headers = { 'content-type': 'application/json' };
    const given = await fetch(`${gateway.url}/v1/feedback`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(given.status).toBe(200);
    const stored = await (await bus.bucket('feedback')).get(turnId);
    expect(stored!.json()).toMatchObject({ comment: 'tell [email]', correction: '[email] knows' });
  });

  it('takes a module of the operator', async () => {
    await start(module('names.cjs', 'exports.redact = (text) => text.replaceAll("Ann", "[name]");'));
    const turnId = await ask(userSays('who is it?'));
    await ask(userSays('who is it?', 'Hello', 'Ann'));
    expect((await bus.messageOf('turnPaired', turnId)).body.nextState[0]!.text).toBe('[name]');
  });

  it('stores no text that a failing module could not look at', async () => {
    await start(
      module('fails.cjs', 'exports.redact = (text) => { if (text === "Ann") throw new Error(text); return text; };'),
    );
    const turnId = await ask(userSays('who was it?'));
    await ask(userSays('who was it?', 'Hello', 'Ann'));
    expect((await bus.messageOf('turnPaired', turnId)).body.nextState[0]!.text).toMatch(/withheld/);
  });

  it.each([
    { reason: 'no such file', path: 'missing.cjs', source: null },
    { reason: 'no function', path: 'empty.cjs', source: 'exports.other = 1;' },
  ])('does not start with a module that has $reason', async ({ path, source }) => {
    const file = source === null ? join(folder, path) : module(path, source);
    await expect(start(file)).rejects.toThrow(/REDACTION/);
    await start('off');
  });
});
