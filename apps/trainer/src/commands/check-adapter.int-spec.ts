import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  exportMerged,
  initLora,
  loraModules,
  mulberry32,
  readModelConfig,
  writePeftAdapter,
  type PeftAdapter,
} from '@hindcast/language-model';
import { reference, referenceDir } from '../../../../libs/language-model/src/testing/reference';
import { SEED_MODEL } from '../testing/fixtures';
import { runCheckAdapter, type AdapterReport } from './check-adapter';
import { peftLogProbs, whyNoPeft } from './peft-peer';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'check-adapter-'));
});
afterAll(async () => {
  await rm(root, { recursive: true });
});

async function adapter(name: string, settings: Partial<PeftAdapter> = {}): Promise<string> {
  const config = await readModelConfig(SEED_MODEL);
  const tensors = initLora(config, { rank: 4, alpha: 8, seed: 1 });
  const uniform = mulberry32(2);
  for (const [matrix, { data }] of tensors)
    if (matrix.includes('lora_B')) data.set(Array.from(data, () => 0.1 * (uniform() - 0.5)));
  const whole = { rank: 4, alpha: 8, baseModel: SEED_MODEL, targetModules: loraModules, tensors, ...settings };
  await writePeftAdapter(join(root, name), whole);
  return join(root, name);
}

async function run(...args: string[]): Promise<{ code: number; printed: string; said: string }> {
  let [printed, said] = ['', ''];
  const code = await runCheckAdapter(args, {
    print: (text) => (printed += `${text}\n`),
    say: (line) => (said += `${line}\n`),
  });
  return { code, printed, said };
}

describe('check:adapter', () => {
  it('explains itself, and names what is wrong with the command or the folder', async () => {
    expect(await run('--help')).toMatchObject({ code: 0, printed: expect.stringContaining('HINDCAST_PYTHON') });
    expect(await run()).toMatchObject({ code: 2, said: expect.stringContaining('adapter') });
    const missing = join(root, 'nowhere');
    expect(await run(missing, '--model', SEED_MODEL)).toMatchObject({
      code: 2,
      said: expect.stringContaining('adapter_config.json'),
    });
  });

  it('says how to install what Python lacks', async () => {
    const before = process.env['HINDCAST_PYTHON'];
    process.env['HINDCAST_PYTHON'] = join(root, 'no-python');
    try {
      const { code, said } = await run(await adapter('without'), '--model', SEED_MODEL);
      expect(code).toBe(2);
      expect(said).toContain('pip install -r tools/reference/requirements.txt');
    } finally {
      if (before === undefined) delete process.env['HINDCAST_PYTHON'];
      else process.env['HINDCAST_PYTHON'] = before;
    }
  });
});

const python = process.env['HINDCAST_PYTHON'] || 'python3';
const missing = whyNoPeft(python);
(missing === null ? describe : describe.skip)(
  'with transformers and peft (skipped without HINDCAST_PYTHON, or a python3, that has torch, transformers and peft)',
  () => {
    it('the seed model loads as it is, and an adapter over it has the same log-probs and prompts', async () => {
      const dir = await adapter('rank-stabilised', { isRankStabilised: true, dropout: 0.1 });
      const { code, printed } = await run(dir, '--model', SEED_MODEL, '--no-engine', '--backend', 'cpu', '--json');
      expect(code).toBe(0);
      const report = JSON.parse(printed) as AdapterReport;
      expect(report).toMatchObject({ sequences: 6, samePrompts: true, ok: true, backend: 'cpu' });
      expect(report.differences['trainer']).toBeLessThan(1e-4);
    }, 600_000);

    it('a merged export loads in transformers, tokenizer and all, with the log-probs of peft', async () => {
      const base = referenceDir('qwen3-sharded-bf16');
      const expected = reference('qwen3-sharded-bf16');
      const merged = join(root, 'merged');
      await exportMerged({ baseDir: base, adapterDir: join(base, 'adapter'), outDir: merged, maxShardBytes: 20_000 });
      const sequences = expected.ids.map((row, i) => row.slice(0, expected.lengths[i]));
      const answer = await peftLogProbs(python, { model: merged, adapter: null, sequences, conversations: [] });
      answer.logProbs.forEach((row, i) =>
        row.forEach((value, t) => expect(Math.abs(value - expected.adapterLogProbs[i]![t]!)).toBeLessThan(2e-5)),
      );
      const seed = join(root, 'seed-merged');
      await exportMerged({ baseDir: SEED_MODEL, adapterDir: await adapter('to-merge'), outDir: seed });
      const asked = { sequences: [], conversations: [[{ role: 'user', content: 'What is rain?' }]] };
      const before = await peftLogProbs(python, { model: SEED_MODEL, adapter: null, ...asked });
      expect(await peftLogProbs(python, { model: seed, adapter: null, ...asked })).toEqual(before);
    }, 600_000);

    it('an adapter that peft would load in part is refused', async () => {
      const dir = await adapter('rescaled');
      const prompts = join(root, 'prompts.json');
      await writeFile(prompts, JSON.stringify(['What is rain?']));
      // Only peft reads this field; the other layers' matrices would be left out in silence.
      const path = join(dir, 'adapter_config.json');
      const file = JSON.parse(await readFile(path, 'utf8')) as object;
      await writeFile(path, JSON.stringify({ ...file, layers_to_transform: [0] }));
      const { code, said } = await run(
        dir,
        '--model',
        SEED_MODEL,
        '--no-engine',
        '--backend',
        'cpu',
        '--prompts',
        prompts,
      );
      expect(code).toBe(2);
      expect(said).toContain("the file's matrices are not the loaded ones");
    }, 600_000);
  },
);
