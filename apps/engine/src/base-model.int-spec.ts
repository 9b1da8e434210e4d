import { cp, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SEED_DIR } from './testing/models';
import { startEngine } from './testing/running-engine';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'engine-model-'));
  await cp(SEED_DIR, dir, { recursive: true });
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Replaces what stands under a key of a JSON file. */
const set = (file: string, key: string, value: unknown) => async (): Promise<void> => {
  const path = join(dir, file);
  await writeFile(path, JSON.stringify({ ...(JSON.parse(await readFile(path, 'utf8')) as object), [key]: value }));
};
const without = (file: string) => () => rm(join(dir, file));
const holding = (file: string, bytes: string | Uint8Array) => () => writeFile(join(dir, file), bytes);
const WEIGHTS = 'model.safetensors';

it.each<[string, () => Promise<void>, RegExp]>([
  ['no configuration', without('config.json'), /config\.json: /],
  ['a configuration that is cut', holding('config.json', '{'), /config\.json: .*JSON/],
  ['another architecture', set('config.json', 'model_type', 'gpt2'), /"gpt2" is not supported/],
  ['a billion layers', set('config.json', 'num_hidden_layers', 1e9), /num_hidden_layers/],
  ['a layer too many', set('config.json', 'num_hidden_layers', 5), /model\.layers\.4\./],
  ['no weights', without(WEIGHTS), /model\.safetensors: cannot be opened/],
  ['weights that are cut', () => truncate(join(dir, WEIGHTS), 100_000), /model\.safetensors: /],
  ['a header of 2^63 bytes', holding(WEIGHTS, Buffer.alloc(50_000, 0x7f)), /model\.safetensors: a header of \d+ bytes/],
  ['no tokenizer', without('tokenizer.json'), /tokenizer\.json: /],
  ['a tokenizer of nothing', holding('tokenizer.json', '[]'), /tokenizer\.json: /],
  ['a template that is no template', set('tokenizer_config.json', 'chat_template', '{% for x in %}'), /engine-model-/],
])('an engine does not start with %s, and says so', async (_, damage, message) => {
  await damage();
  const started = startEngine({ MODEL_DIR: dir });
  await expect(started).rejects.toMatchObject({ code: 'config-invalid', message: expect.stringMatching(message) });
  await expect(started).rejects.toThrow(/^MODEL_DIR: /);
});
