import { question, random } from '@hindcast/seed-world';
import { ChatClient } from '../apps/simulator/src/client';
import { imbalances } from '../apps/simulator/src/core/report';
import { status, whenSettled } from '../apps/simulator/src/ledger';
import { runSession } from '../apps/simulator/src/session';
import type { App, Stack } from '../apps/simulator/src/stack/stack';
import { manifests } from './manifests';
import { endTemporaryStack, startTemporaryStack } from './stack';

// A process that dies at the worst moment, each of them in turn, and is started again: nothing is lost, nothing trained twice.
describe('kill -9', () => {
  let stack: Stack;
  let sessions = 0;
  let captured = 0;
  const draw = random('crashes');

  beforeAll(async () => {
    stack = await startTemporaryStack({ feedback: 'explicit' });
  });
  afterAll(() => endTemporaryStack(stack));

  /** One session; the client waits while the gateway is away. */
  async function session(): Promise<void> {
    const n = sessions++;
    const user = {
      persona: 'student',
      feedback: 'explicit',
      question: question(draw),
      draw,
      sessionId: `crash-${n}`,
      seed: n,
    } as const;
    captured += (await runSession(new ChatClient(stack.gatewayUrl), user)).answers;
  }
  const settled = () => whenSettled(stack, captured, { patienceMs: 120_000, onWaiting: () => undefined });

  async function expectWholeBooks(): Promise<void> {
    const now = await settled();
    expect(imbalances(now)).toEqual([]);
    expect(now.turns.captured).toBeGreaterThanOrEqual(captured);
    const trained = manifests(stack.policyDir).flatMap(({ turnIds }) => turnIds);
    expect(new Set(trained).size).toBe(trained.length);
    expect(now.samplesTrained).toBe(trained.length);
  }

  it.each<{ at: string; app: App }>([
    { at: 'after-capture-put', app: 'gateway' },
    { at: 'after-claim', app: 'gateway' },
    { at: 'after-commit', app: 'dispatcher' },
    { at: 'before-ack', app: 'dispatcher' },
    { at: 'before-ack', app: 'judge-svc' },
    { at: 'before-ack', app: 'teacher-svc' },
    { at: 'after-rename', app: 'trainer' },
    { at: 'after-load', app: 'trainer' },
  ])('of the $app $at', async ({ at, app }) => {
    await stack.kill(app);
    await stack.startAgain(app, { CRASH_AT: at });
    let crashed = false;
    const revived = stack.whenEnded(app).then(async () => {
      crashed = true;
      await stack.startAgain(app);
    });
    while (!crashed) {
      await session();
      if (!crashed) await Promise.race([settled(), revived]);
    }
    await revived;
    await expectWholeBooks();
  });

  it('of judge, teacher, dispatcher and trainer in the middle of their work', async () => {
    for (const app of ['judge-svc', 'teacher-svc', 'dispatcher', 'trainer'] as const) {
      await session();
      await stack.kill(app); // whatever it was doing with the turns of that session
      await session();
      await stack.startAgain(app);
      await expectWholeBooks();
    }
    expect((await status(stack.gatewayUrl)).versionsPublished).toBeGreaterThan(0);
  });
});
