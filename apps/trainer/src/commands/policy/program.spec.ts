import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifest, SEED_MODEL } from '../../testing/fixtures';
import { runPolicyCommand } from './program';

// Commands over a folder in which no trainer works.

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-policy-'));
  for (const version of [1, 2]) {
    const path = join(folder, `v00000${version}`);
    mkdirSync(path);
    const weights = `weights of version ${version}`;
    writeFileSync(join(path, 'adapter_model.safetensors'), weights);
    const checksums = { 'adapter_model.safetensors': createHash('sha256').update(weights).digest('hex') };
    writeFileSync(join(path, 'manifest.json'), JSON.stringify(manifest({ version, parent: version - 1, checksums })));
  }
});
afterEach(() => rmSync(folder, { recursive: true }));

async function policy(...args: string[]): Promise<{ code: number; output: string; said: string }> {
  const [output, said]: [string[], string[]] = [[], []];
  const code = await runPolicyCommand([...args, '--policy-dir', folder], {
    env: { MODEL_DIR: SEED_MODEL },
    print: (text) => output.push(text),
    say: (line) => said.push(line),
    width: 120,
    bars: null,
    confirm: () => Promise.resolve(false),
  });
  return { code, output: output.join('\n'), said: said.join('\n') };
}
const requested = (): { version: number } =>
  JSON.parse(readFileSync(join(folder, 'rollback.json'), 'utf8')) as { version: number };

it.each([
  { text: '', why: 'a variable of a script that is not set is not the base model' },
  { text: ' ' },
  { text: '1e0' },
  { text: '0x1' },
  { text: 'v' },
  { text: '99999999999999999999' },
])('takes no "$text" for a version', async ({ text }) => {
  expect(await policy('rollback', text, '--yes')).toMatchObject({
    code: 2,
    said: expect.stringContaining('whole number') as string,
  });
  expect(existsSync(join(folder, 'rollback.json'))).toBe(false);
});

it('refuses a reason that no manifest takes, in one line', async () => {
  const { code, said } = await policy('rollback', '1', '--yes', '--reason', 'x'.repeat(501));
  expect({ code, lines: said.split('\n') }).toEqual({
    code: 2,
    lines: [expect.stringContaining('at most 500 characters')],
  });
});

it('withdraws a rollback that no trainer has done yet, by asking for the version that serves', async () => {
  expect(await policy('rollback', '2', '--yes')).toMatchObject({ code: 2, said: 'version 2 serves already' });
  await policy('rollback', '0', '--yes');
  expect(requested().version).toBe(0);
  expect(await policy('rollback', 'v2', '--yes')).toMatchObject({
    code: 0,
    output: 'Version 2 stays in service: the rollback is withdrawn.',
  });
  expect(requested().version).toBe(2);
});

it('exports no weights that are not those that were committed', async () => {
  writeFileSync(join(folder, 'v000001', 'adapter_model.safetensors'), 'other weights');
  const outDir = join(folder, 'merged');
  expect(await policy('export-merged', '1', outDir)).toMatchObject({
    code: 1,
    said: expect.stringContaining('is not the file that was committed') as string,
  });
  expect(existsSync(outDir)).toBe(false);
});
