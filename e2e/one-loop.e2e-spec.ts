import { existsSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import { imbalances, type DemoReport } from '../apps/simulator/src/core/report';
import { status } from '../apps/simulator/src/ledger';
import { runDemo } from '../apps/simulator/src/run-demo';
import type { Stack } from '../apps/simulator/src/stack/stack';
import { manifests } from './manifests';
import { endTemporaryStack, startTemporaryStack, turnStory } from './stack';

// From HTTP requests to new weights being served, all processes real.
describe('a short demo', () => {
  let stack: Stack;
  let report: DemoReport;
  const chats: { chunks: number; failed: unknown }[] = [];

  beforeAll(async () => {
    stack = await startTemporaryStack();
    let running = true;
    // A client that never stops asking, publications included.
    const chatting = (async () => {
      const client = new OpenAI({ baseURL: `${stack.gatewayUrl}/v1`, apiKey: 'none', maxRetries: 0 });
      while (running) chats.push(await chat(client));
    })();
    report = await runDemo(
      stack,
      { sessions: 12, persona: 'student', feedback: 'mixed', method: 'combine', seed: 1 },
      300_000,
    );
    running = false;
    await chatting;
  });
  afterAll(() => endTemporaryStack(stack));

  it('trains and publishes versions, and its books balance', async () => {
    expect(report.versions).toBeGreaterThanOrEqual(1);
    expect(report.servedVersion).toBeGreaterThanOrEqual(report.versions);
    expect(report.cases.opdRl).toBeGreaterThan(0);
    expect(report.cases.rl).toBeGreaterThan(0);
    expect(report.cases.drop).toBeGreaterThan(0);
    expect(imbalances(await status(stack.gatewayUrl))).toEqual([]);
  });

  it('no streaming chat was refused or cut while versions changed', () => {
    expect(chats.length).toBeGreaterThan(5);
    expect(chats.filter(({ failed }) => failed !== null)).toEqual([]);
    expect(chats.every(({ chunks }) => chunks > 3)).toBe(true);
  });

  it('the manifests name exactly the turns that the ledger calls trained', async () => {
    const versions = manifests(stack.policyDir);
    const trained = versions.flatMap(({ turnIds }) => turnIds);
    expect(new Set(trained).size).toBe(trained.length);
    expect(trained.length).toBe(report.samplesTrained);
    for (const { version, turnIds } of versions) {
      for (const id of turnIds)
        expect(await turnStory(stack, id)).toMatchObject({ turnId: id, state: 'trained', trainedIn: version });
    }
  });

  it('the served adapter is a PEFT directory, and the engine lists it', async () => {
    expect(existsSync(join(report.adapterDir!, 'adapter_config.json'))).toBe(true);
    expect(existsSync(join(report.adapterDir!, 'adapter_model.safetensors'))).toBe(true);
    const models = (await (await fetch(`${stack.gatewayUrl}/v1/models`)).json()) as { data: { id: string }[] };
    expect(models.data.map(({ id }) => id)).toContain(`hindcast-v${String(report.servedVersion).padStart(6, '0')}`);
  });

  it('says why a turn was trained, by turn id and by response id', async () => {
    const [id] = manifests(stack.policyDir)[0]!.turnIds;
    const story = await turnStory(stack, id!);
    expect(await turnStory(stack, String(story['responseId']))).toEqual(story);
    expect(['opdRl', 'opd', 'rl']).toContain(story['case']);
  });
});

async function chat(client: OpenAI): Promise<{ chunks: number; failed: unknown }> {
  try {
    const stream = await client.chat.completions.create(
      { model: 'anything', messages: [{ role: 'user', content: 'What is a planet?' }], stream: true, max_tokens: 60 },
      { headers: { 'X-Turn-Type': 'side' } },
    );
    let chunks = 0;
    for await (const _chunk of stream) chunks++;
    return { chunks, failed: null };
  } catch (failed) {
    return { chunks: 0, failed };
  }
}
