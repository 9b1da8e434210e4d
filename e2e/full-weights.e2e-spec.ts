import { existsSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import { imbalances } from '../apps/simulator/src/core/report';
import { status } from '../apps/simulator/src/ledger';
import { runDemo } from '../apps/simulator/src/run-demo';
import type { Stack } from '../apps/simulator/src/stack/stack';
import { manifests } from './manifests';
import { endTemporaryStack, startTemporaryStack, turnStory } from './stack';

// TUNING=full with every process real: whole model directories are trained, served beside each other under names of their own, and tried on a
// share of the sessions first.
describe('a demo that trains every weight', () => {
  let stack: Stack;
  let names: string[];

  beforeAll(async () => {
    stack = await startTemporaryStack({
      settings: {
        ACK_WAIT_SECONDS: '3',
        TUNING: 'full',
        LEARNING_RATE: '3e-5',
        DRIFT_REFUSE_NATS: '',
        DRIFT_ALARM_NATS: '',
        CANARY_SHARE: '0.4',
        CANARY_MIN_TURNS: '1',
        CANARY_MAX_DROP: '2',
        CANARY_MAX_WAIT_SECONDS: '2',
      },
    });
    await runDemo(stack, { sessions: 5, persona: 'student', feedback: 'mixed', method: 'combine', seed: 1 }, 300_000);
    const client = new OpenAI({ baseURL: `${stack.gatewayUrl}/v1`, apiKey: 'none' });
    names = (await client.models.list()).data.map(({ id }) => id);
  });
  afterAll(() => endTemporaryStack(stack));

  it('publishes model directories that the engine serves by name, beside the base model', () => {
    const published = manifests(stack.policyDir).filter(({ state }) => state === 'published');
    expect(published.length).toBeGreaterThanOrEqual(1);
    const folder = join(stack.policyDir, `v${String(published[0]!.version).padStart(6, '0')}`);
    expect(existsSync(join(folder, 'config.json'))).toBe(true);
    expect(existsSync(join(folder, 'adapter_config.json'))).toBe(false);
    expect(names).toContain('seed');
    expect(names).toContain(`hindcast-v${String(published.at(-1)!.version).padStart(6, '0')}`);
  });

  it('its books balance, and every trained turn names the version that answered it', async () => {
    expect(imbalances(await status(stack.gatewayUrl))).toEqual([]);
    for (const { turnIds, version } of manifests(stack.policyDir)) {
      for (const id of turnIds) {
        const story = await turnStory(stack, id);
        expect(story).toMatchObject({ state: 'trained', trainedIn: version });
        expect(story['policyVersion']).toBeLessThan(version);
      }
    }
  });
});
