import { spawn, spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { HindcastError } from '@hindcast/contracts';
import { z } from 'zod';

const SCRIPT = join(__dirname, '../../../../tools/reference/check_adapter.py');

export interface PeftRequest {
  /** Folder of the base model. */
  readonly model: string;
  /** Folder of the PEFT adapter; `null` for the model alone. */
  readonly adapter: string | null;
  readonly sequences: readonly (readonly number[])[];
  readonly conversations: readonly (readonly { readonly role: string; readonly content: string }[])[];
}

const PeftAnswer = z.object({
  /** Of every id but the first of each sequence, nats. */
  logProbs: z.array(z.array(z.number())),
  /** Ids of each conversation, as transformers makes a prompt of it. */
  prompts: z.array(z.array(z.int())),
  versions: z.record(z.string(), z.string()),
});
export type PeftAnswer = z.infer<typeof PeftAnswer>;

const PACKAGES = ['torch', 'transformers', 'peft'];

/** Why a Python cannot be used, or `null`. Its packages are looked for, not imported: that would take as long as the work. */
export function whyNoPeft(python: string): string | null {
  const script = `import importlib.util as u; print(*[n for n in ${JSON.stringify(PACKAGES)} if u.find_spec(n) is None])`;
  const { status, error, stdout, stderr } = spawnSync(python, ['-c', script], { encoding: 'utf8' });
  if (status !== 0) return error?.message ?? stderr.trim().split('\n').at(-1) ?? 'it fails';
  return stdout.trim() === '' ? null : `it has no ${stdout.trim().replaceAll(' ', ', ')}`;
}

/** @throws HindcastError `config-invalid` that says how to install what is missing */
export function assertPeft(python: string): void {
  const why = whyNoPeft(python);
  if (why === null) return;
  throw new HindcastError(
    'config-invalid',
    [
      `${python} cannot run peft: ${why}. Install it and name that Python:`,
      '  python3 -m venv .venv && .venv/bin/pip install -r tools/reference/requirements.txt',
      '  HINDCAST_PYTHON=.venv/bin/python npm run check:adapter -- ADAPTER_DIR',
    ].join('\n'),
  );
}

/** Log-probs by transformers and peft. @throws HindcastError `invalid-request` with what Python said when it fails */
export async function peftLogProbs(python: string, request: PeftRequest): Promise<PeftAnswer> {
  const child = spawn(python, [SCRIPT], { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(JSON.stringify(request));
  const [code, output, errors] = await Promise.all([
    new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve)),
    text(child.stdout),
    text(child.stderr),
  ]);
  if (code !== 0) throw new HindcastError('invalid-request', `peft does not load the adapter: ${errors.trim()}`);
  return PeftAnswer.parse(JSON.parse(output));
}
