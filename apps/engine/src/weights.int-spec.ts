import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readModelConfig, readModelWeights, writeModelWeights, type LlamaConfig } from '@hindcast/language-model';
import { largestDifference, randomWeights, SEED_DIR, trainerLogProbs } from './testing/models';
import { post, postStream, startEngine, type RunningEngine } from './testing/running-engine';

// Whole weights under names of their own, beside the base model.

let engine: RunningEngine;
let root: string;
let config: LlamaConfig;
const folder = (version: number): string => join(root, `v${version}`);

beforeAll(async () => {
  engine = await startEngine({ MAX_LORAS: '2' });
  root = await mkdtemp(join(tmpdir(), 'engine-weights-'));
  config = await readModelConfig(SEED_DIR);
  for (const version of [1, 2]) {
    await cp(SEED_DIR, folder(version), { recursive: true });
    await writeModelWeights(folder(version), randomWeights(config, version));
  }
});
afterAll(async () => {
  await engine.close();
  await rm(root, { recursive: true });
});
afterEach(async () => {
  for (const name of engine.models.adapterNames) await unload({ name });
});

const load = (body: object) => post(`${engine.url}/v1/load_weights`, body);
const unload = (body: object) => post(`${engine.url}/v1/unload_weights`, body);
const ask = (body: object) =>
  post(`${engine.url}/v1/chat/completions`, {
    messages: [{ role: 'user', content: 'What is rain?' }],
    logprobs: true,
    return_token_ids: true,
    max_tokens: 20,
    seed: 5,
    ...body,
  });

it('are listed beside the base model and answer with their own log-probs; the base model stays what it was', async () => {
  const before = (await ask({})).body.choices[0];
  expect(await load({ name: 'hindcast-v000001', path: folder(1) })).toMatchObject({ status: 200 });
  const { data } = (await (await fetch(`${engine.url}/v1/models`)).json()) as { data: object[] };
  expect(data).toMatchObject([
    { id: 'seed', parent: null, loads_weights: true },
    { id: 'hindcast-v000001', root: folder(1), parent: 'seed' },
  ]);
  const { body } = await ask({ model: 'hindcast-v000001' });
  expect(body.model).toBe('hindcast-v000001');
  const all = [...body.prompt_token_ids, ...body.choices[0].token_ids];
  const trainer = await trainerLogProbs(config, await readModelWeights(folder(1), config), all);
  const sampled = body.choices[0].logprobs.content.map(({ logprob }: { logprob: number }) => logprob);
  expect(largestDifference(sampled, trainer.slice(body.prompt_token_ids.length - 1))).toBeLessThan(1e-3);
  expect((await ask({})).body.choices[0].logprobs).toEqual(before.logprobs);
});

it('D35 of two versions each answers from its own weights, never from what the other cached', async () => {
  await load({ name: 'a', path: folder(1) });
  const first = (await ask({ model: 'a' })).body.choices[0];
  await load({ name: 'b', path: folder(2) });
  expect((await ask({ model: 'b' })).body.choices[0].logprobs).not.toEqual(first.logprobs);
  expect((await ask({ model: 'a' })).body.choices[0].logprobs).toEqual(first.logprobs);
});

it('D32 a stream that began on weights ends on them, although they were unloaded and others loaded meanwhile', async () => {
  await load({ name: 'a', path: folder(1) });
  const body = { model: 'a', max_tokens: 150, ignore_eos: true, seed: 5 };
  const messages = [{ role: 'user', content: 'What is rain?' }];
  const alone = (await ask(body)).body.choices[0].token_ids;
  const stream = postStream(`${engine.url}/v1/chat/completions`, { ...body, messages, return_token_ids: true });
  const running = ask(body);
  await load({ name: 'b', path: folder(2) });
  await unload({ name: 'a' });
  await load({ name: 'a', path: folder(2) });
  expect((await running).body.choices[0].token_ids).toEqual(alone);
  expect(await stream).toHaveLength(151);
  expect((await ask(body)).body.choices[0].token_ids).not.toEqual(alone);
});

it.each([
  {
    why: 'a name that is taken',
    body: () => ({ name: 'a', path: folder(2) }),
    status: 400,
    says: 'already been loaded',
  },
  {
    why: 'the base model’s name',
    body: () => ({ name: 'seed', path: folder(2) }),
    status: 400,
    says: 'already been loaded',
  },
  { why: 'a folder without a model', body: () => ({ name: 'x', path: root }), status: 404, says: 'No model found for' },
  { why: 'a missing field', body: () => ({ name: 'x' }), status: 400, says: "Both 'name' and 'path'" },
])('refuses $why, and goes on', async ({ body, status, says }) => {
  await load({ name: 'a', path: folder(1) });
  const answer = await load(body());
  expect(answer.status).toBe(status);
  expect(answer.body.error.message).toContain(says);
  expect((await ask({ model: 'a' })).status).toBe(200);
});

it('refuses a model of another shape, and damaged weights', async () => {
  const other = await mkdtemp(join(root, 'other-'));
  await cp(folder(1), other, { recursive: true });
  const path = join(other, 'config.json');
  const json = JSON.parse(await readFile(path, 'utf8')) as { rms_norm_eps: number };
  await writeFile(path, JSON.stringify({ ...json, rms_norm_eps: 0.5 }));
  const answer = await load({ name: 'x', path: other });
  expect(answer).toMatchObject({ status: 400, body: { error: { type: 'BadRequestError' } } });
  expect(answer.body.error.message).toContain('describes another model');
  await cp(folder(1), other, { recursive: true });
  await writeFile(join(other, 'model.safetensors'), 'half');
  expect((await load({ name: 'x', path: other })).status).toBe(400);
  expect((await ask({ model: 'x' })).status).toBe(404);
});

it('an adapter is not unloaded as weights, nor an unknown name', async () => {
  expect((await unload({ name: 'nobody' })).status).toBe(404);
  await load({ name: 'a', path: folder(1) });
  expect((await post(`${engine.url}/v1/unload_lora_adapter`, { lora_name: 'a' })).status).toBe(404);
});
