import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  loraModules,
  readModelConfig,
  readModelWeights,
  writePeftAdapter,
  type HostTensor,
  type LlamaConfig,
} from '@hindcast/language-model';
import { largestDifference, randomAdapter, SEED_DIR, trainerLogProbs } from './testing/models';
import { post, postStream, startEngine, type RunningEngine } from './testing/running-engine';

let engine: RunningEngine;
let root: string;
let config: LlamaConfig;
let weights: Map<string, HostTensor>;
const tensors: Map<string, HostTensor>[] = [];
const folder = (version: number): string => join(root, `v${version}`);

beforeAll(async () => {
  engine = await startEngine({ MAX_LORAS: '2' });
  root = await mkdtemp(join(tmpdir(), 'engine-lora-'));
  config = await readModelConfig(SEED_DIR);
  weights = await readModelWeights(SEED_DIR, config);
  for (const version of [0, 1, 2]) {
    tensors.push(randomAdapter(config, version));
    await writePeftAdapter(folder(version), {
      rank: 4,
      alpha: 8,
      baseModel: 'seed',
      targetModules: loraModules,
      tensors: tensors[version]!,
    });
  }
});
afterAll(async () => {
  await engine.close();
  await rm(root, { recursive: true });
});
afterEach(async () => {
  for (const name of engine.models.adapterNames) await unload({ lora_name: name });
});

const load = (body: object) => post(`${engine.url}/v1/load_lora_adapter`, body);
const unload = (body: object) => post(`${engine.url}/v1/unload_lora_adapter`, body);
const ask = (body: object) =>
  post(`${engine.url}/v1/chat/completions`, {
    messages: [{ role: 'user', content: 'What is rain?' }],
    logprobs: true,
    return_token_ids: true,
    max_tokens: 20,
    seed: 5,
    ...body,
  });

it('loads, lists and unloads an adapter in vLLM’s words', async () => {
  expect(await load({ lora_name: 'a', lora_path: folder(0) })).toEqual({
    status: 200,
    body: "Success: LoRA adapter 'a' added successfully.",
  });
  const { data } = (await (await fetch(`${engine.url}/v1/models`)).json()) as { data: object[] };
  expect(data).toMatchObject([
    { id: 'seed', root: SEED_DIR, parent: null, max_model_len: 512 },
    { id: 'a', root: folder(0), parent: 'seed' },
  ]);
  expect(await unload({ lora_name: 'a' })).toEqual({
    status: 200,
    body: "Success: LoRA adapter 'a' removed successfully.",
  });
  expect((await ask({ model: 'a' })).status).toBe(404);
});

it('answers with the adapter’s weights: the trainer’s log-probs, of what it samples and what it scores', async () => {
  await load({ lora_name: 'a', lora_path: folder(0) });
  const { body } = await ask({ model: 'a' });
  expect(body.model).toBe('a');
  const all = [...body.prompt_token_ids, ...body.choices[0].token_ids];
  const trainer = await trainerLogProbs(config, weights, all, { tensors: tensors[0]!, scale: 2 });
  const sampled = body.choices[0].logprobs.content.map(({ logprob }: { logprob: number }) => logprob);
  expect(largestDifference(sampled, trainer.slice(body.prompt_token_ids.length - 1))).toBeLessThan(1e-4);
  const scored = await post(`${engine.url}/v1/completions`, {
    model: 'a',
    prompt: all,
    max_tokens: 0,
    prompt_logprobs: 0,
  });
  const values = scored.body.choices[0].prompt_logprobs
    .slice(1)
    .map((entry: Record<string, { logprob: number }>, i: number) => entry[String(all[i + 1])]!.logprob);
  expect(largestDifference(values, trainer)).toBeLessThan(1e-4);
  expect((await ask({})).body.choices[0].token_ids).not.toEqual(body.choices[0].token_ids);
});

it('serves base and adapters at once, each as alone', async () => {
  await load({ lora_name: 'a', lora_path: folder(0) });
  await load({ lora_name: 'b', lora_path: folder(1) });
  const bodies = Array.from({ length: 9 }, (_, i) => ({ model: ['seed', 'a', 'b'][i % 3], seed: i }));
  const together = await Promise.all(bodies.map(ask));
  for (const [i, body] of bodies.entries())
    expect((await ask(body)).body.choices[0].token_ids).toEqual(together[i]!.body.choices[0].token_ids);
});

it('keeps serving while adapters come and go; what began on one finishes on it', async () => {
  await load({ lora_name: 'a', lora_path: folder(0) });
  const body = { model: 'a', max_tokens: 300, ignore_eos: true };
  const expected = (await ask(body)).body.choices[0].token_ids;
  const running = [ask(body), ask({ ...body, model: 'seed' }), ask(body)];
  await load({ lora_name: 'b', lora_path: folder(1) });
  await unload({ lora_name: 'a' });
  await load({ lora_name: 'a', lora_path: folder(2) });
  const answers = await Promise.all(running);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(answers[0]!.body.choices[0].token_ids).toEqual(expected);
  expect(answers[2]!.body.choices[0].token_ids).toEqual(expected);
  expect((await ask(body)).body.choices[0].token_ids).not.toEqual(expected);
});

it('D35: after an adapter was replaced, the same prompt is answered by the new weights, not from a cache of the old', async () => {
  await load({ lora_name: 'a', lora_path: folder(0) });
  const old = (await ask({ model: 'a' })).body.choices[0];
  await load({ lora_name: 'a', lora_path: folder(1), load_inplace: true });
  await load({ lora_name: 'fresh', lora_path: folder(1) });
  const replaced = (await ask({ model: 'a' })).body.choices[0];
  const fresh = (await ask({ model: 'fresh' })).body.choices[0];
  expect(replaced.logprobs).toEqual(fresh.logprobs);
  expect(replaced.logprobs).not.toEqual(old.logprobs);
});

it('replaces an adapter in place, and streams go on', async () => {
  await load({ lora_name: 'a', lora_path: folder(0) });
  const stream = postStream(`${engine.url}/v1/chat/completions`, {
    model: 'a',
    messages: [{ role: 'user', content: 'Hello' }],
    ignore_eos: true,
    max_tokens: 200,
  });
  expect((await load({ lora_name: 'a', lora_path: folder(1), load_inplace: true })).status).toBe(200);
  expect(await stream).toHaveLength(201);
});

describe('refusals', () => {
  it('a name that is taken, too many adapters, a missing field, an unknown name', async () => {
    await load({ lora_name: 'a', lora_path: folder(0) });
    const again = await load({ lora_name: 'a', lora_path: folder(1) });
    expect(again).toMatchObject({ status: 400, body: { error: { type: 'InvalidUserInput' } } });
    expect(again.body.error.message).toContain("The lora adapter 'a' has already been loaded.");
    expect((await load({ lora_name: 'seed', lora_path: folder(1) })).status).toBe(400);
    await load({ lora_name: 'b', lora_path: folder(1) });
    expect((await load({ lora_name: 'c', lora_path: folder(2) })).body.error.message).toContain('MAX_LORAS is 2');
    expect((await load({ lora_name: 'c' })).body.error).toMatchObject({
      type: 'InvalidUserInput',
      message: "Both 'lora_name' and 'lora_path' must be provided.",
    });
    expect((await unload({})).status).toBe(400);
    expect(await unload({ lora_name: 'c' })).toMatchObject({
      status: 404,
      body: { error: { type: 'NotFoundError', message: "The lora adapter 'c' cannot be found." } },
    });
  });

  it('a folder without an adapter, and one that is broken; nothing is served under the name', async () => {
    const missing = await load({ lora_name: 'x', lora_path: join(root, 'nowhere') });
    expect(missing).toMatchObject({ status: 404, body: { error: { type: 'NotFoundError' } } });
    expect(missing.body.error.message).toContain('No adapter found for');
    const broken = await mkdtemp(join(root, 'broken-'));
    await writeFile(join(broken, 'adapter_config.json'), '{"peft_type":"LORA"');
    expect((await load({ lora_name: 'x', lora_path: broken })).status).toBe(400);
    expect((await ask({ model: 'x' })).status).toBe(404);
    expect((await load({ lora_name: 'x', lora_path: folder(0) })).status).toBe(200);
  });

  it('loads one name once when asked twice at the same time', async () => {
    const answers = await Promise.all([0, 1].map((i) => load({ lora_name: 'a', lora_path: folder(i) })));
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
  });
});
