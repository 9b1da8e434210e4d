import { cp, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hyperparametersOf, readConfig } from './config';
import { SEED_MODEL } from './testing/fixtures';
import { assemble } from './workshop';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'model-refusal-'));
});
afterAll(async () => {
  await rm(root, { recursive: true });
});

async function change(path: string, fields: object): Promise<void> {
  await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), ...fields }));
}

describe('a trainer does not start on a model directory with', () => {
  it.each([
    {
      why: 'the tokenizer of another model',
      spoil: (dir: string) => change(join(dir, 'config.json'), { eos_token_id: 1023 + 5 }),
      error: 'no token has the id 1028, at which the model ends an answer',
    },
    {
      why: 'a field that the forward pass does not compute',
      spoil: (dir: string) => change(join(dir, 'config.json'), { sliding_window: 4096 }),
      error: 'sliding_window 4096: sliding-window attention is not supported',
    },
    {
      why: 'weights cut short',
      spoil: (dir: string) => truncate(join(dir, 'model.safetensors'), 2_000_000),
      error: 'model.safetensors: the tensors cover',
    },
  ])('$why', async ({ why, spoil, error }) => {
    const model = join(root, why.replaceAll(' ', '-'));
    await cp(SEED_MODEL, model, { recursive: true });
    await spoil(model);
    const config = readConfig({ MODEL_DIR: model, POLICY_DIR: join(root, `${why}-policy`), BACKEND: 'cpu' });
    await expect(assemble(config, hyperparametersOf(config))).rejects.toThrow(error);
    // The folder's lock is given back: the next start says the same, not that somebody holds it.
    await expect(assemble(config, hyperparametersOf(config))).rejects.toThrow(error);
  });
});

it.each([
  { why: 'a model directory that is not there', env: { MODEL_DIR: '/nowhere' }, message: /^MODEL_DIR: .*\/nowhere/ },
  { why: 'a policy folder that is a file', env: { POLICY_DIR: __filename }, message: /^POLICY_DIR: EEXIST/ },
])('a trainer names the variable of $why', async ({ env, message }) => {
  const config = readConfig({ MODEL_DIR: SEED_MODEL, POLICY_DIR: join(root, 'policies'), ...env });
  await expect(assemble(config, hyperparametersOf(config))).rejects.toMatchObject({
    code: 'config-invalid',
    message: expect.stringMatching(message) as string,
  });
});
