import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startNatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, userSays } from './testing/gateway-harness';
import { startGatewayProcess } from './testing/gateway-process';

const ROUNDS = 2;
const CLIENTS = 6;

it('gateway and broker killed under load: every answer that reached its client is captured, every continued one paired once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hindcast-kills-'));
  const nats = await startNatsServer();
  const engine = await FakeEngine.start();
  engine.script = (call) => engine.answer(call, answerOf('one two three'));
  const env = { NATS_URL: nats.url, POLICY_BASE_URL: engine.url, DATA_DIR: folder };
  let gateway = await startGatewayProcess(env);

  const reached: string[] = [];
  const continued: string[] = [];
  let asked = 0;
  let isOver = false;
  const ask = async (messages: object[], stream: boolean): Promise<string> => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages, stream }),
    });
    const text = await response.text();
    if (response.status !== 200 || (stream && !text.includes('[DONE]'))) throw new Error('cut');
    const turnId = response.headers.get('x-hindcast-turn-id')!;
    reached.push(turnId);
    return turnId;
  };
  const client = async (): Promise<void> => {
    while (!isOver) {
      const question = `question ${asked++}`;
      try {
        const turnId = await ask(userSays(question), asked % 2 === 0);
        await ask(userSays(question, 'one two three', 'more'), asked % 2 === 1);
        continued.push(turnId);
      } catch {
        // The gateway was away; its client asks something else.
        await sleep(50);
      }
    }
  };
  const load = Promise.all(Array.from({ length: CLIENTS }, client));
  for (let round = 0; round < ROUNDS; round++) {
    const before = reached.length;
    await eventually(() => Promise.resolve(reached.length > before + 60));
    gateway.kill('SIGKILL');
    await gateway.ended;
    gateway = await startGatewayProcess(env);
    const { url } = gateway;
    await eventually(async () => (await (await fetch(`${url}/readyz`)).text()).includes('"degraded":[]'));
    await nats.kill();
    const during = reached.length;
    await eventually(() => Promise.resolve(reached.length > during + 20));
    await nats.restart();
  }
  isOver = true;
  await load;
  const bus = await BusReader.connect(nats.url);

  await eventually(async () => {
    const captured = new Set((await bus.messages('turnCaptured')).map(({ turnId }) => turnId));
    return reached.every((turnId) => captured.has(turnId));
  });
  for (const turnId of reached) expect(await bus.capture(turnId)).not.toBeNull();
  await eventually(async () => {
    const paired = new Set((await bus.messages('turnPaired')).map(({ turnId }) => turnId));
    return continued.every((turnId) => paired.has(turnId));
  });
  const ends = [...(await bus.messages('turnPaired')), ...(await bus.messages('turnClosed'))].map(
    ({ turnId }) => turnId,
  );
  expect(new Set(ends).size).toBe(ends.length);

  gateway.kill('SIGTERM');
  expect(await gateway.ended).toBe(0);
  await bus.close();
  await engine.stop();
  await nats.stop();
  rmSync(folder, { recursive: true, force: true });
}, 300_000);
