import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const script = resolve(__dirname, '../../../tools/check-docs.mjs');

/** A small tree in which documents and code agree. */
const agreeing: Readonly<Record<string, string>> = {
  'libs/contracts/src/errors.ts': `export const errorCodes = {
  'config-invalid': { retry: false },
  internal: { retry: true },
} as const;
`,
  'docs/errors.md':
    '| code | retry |\n|---|---|\n| `config-invalid` | Wrong. | no | Correct it. |\n| `internal`       | A fault. | yes | Report it. |\n',
  'libs/platform/src/config.ts': `export const CommonConfig = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().default(0),
});
`,
  'apps/answerer/src/config.ts': `export const Config = commonConfig(8080).extend({
  KEY: secret.optional(),
  LIMIT_BYTES: z.coerce
    .number()
    .default(32 * 1024),
  RATE: positive.default(1e-5),
  URLS: commaList.default(['http://a/v1', 'http://b/v1']),
  STRICT: booleanFlag.default(false),
  THREADS: count.default(Math.max(1, 2)),
});
`,
  'apps/simulator/src/stack/preset.ts': `export const demoPreset = {
  RATE: '5e-3',
};
`,
  '.env.example': `# ===== every app · libs/platform/src/config.ts =====
# HOST=127.0.0.1
# ===== answerer · apps/answerer/src/config.ts =====
# PORT=8080
# KEY=
# LIMIT_BYTES=32768
# RATE=0.00001
# URLS=http://a/v1,http://b/v1
# STRICT=0
# THREADS=
# ===== outside the apps =====
# NATS_SERVER_BIN=
# CRASH_AT=
# ===== preset service =====
# RATE=1e-5
# ===== preset demo · apps/simulator/src/stack/preset.ts =====
# RATE=5e-3
`,
  'README.md': '[errors](docs/errors.md) [elsewhere](https://example.org/x) [below](#below)\n',
  'CONTRIBUTING.md': 'Nothing.\n',
  'docs/decisions/README.md': '[errors](../errors.md)\n',
};

function problemsOf(files: Readonly<Record<string, string>>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'hindcast-docs-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const { status, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' });
    const problems = stderr.split('\n').filter((line) => line !== '');
    expect(status).toBe(problems.length > 0 ? 1 : 0);
    return problems;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('tools/check-docs.mjs', () => {
  it('says nothing when documents and code agree', () => expect(problemsOf(agreeing)).toEqual([]));

  it.each<{ file: string; from: string; to: string; says: string }>([
    {
      file: 'docs/errors.md',
      from: '`internal`',
      to: '`external`',
      says: 'error code internal is in the code but not in the documents',
    },
    {
      file: 'docs/errors.md',
      from: '| yes |',
      to: '| no |',
      says: 'error code internal: docs/errors.md says retry no',
    },
    {
      file: 'apps/answerer/src/config.ts',
      from: 'THREADS:',
      to: 'WORKERS:',
      says: 'WORKERS is in the code but not in the documents',
    },
    {
      file: '.env.example',
      from: '# HOST=127.0.0.1\n',
      to: '',
      says: 'HOST is in the code but not in the documents',
    },
    { file: '.env.example', from: 'HOST=127.0.0.1', to: 'HOST=0.0.0.0', says: 'HOST of libs/platform/src/config.ts' },
    { file: '.env.example', from: 'PORT=8080', to: 'PORT=8081', says: 'PORT of apps/answerer/src/config.ts' },
    { file: '.env.example', from: 'LIMIT_BYTES=32768', to: 'LIMIT_BYTES=32', says: 'the default is 32768' },
    { file: '.env.example', from: 'RATE=0.00001', to: 'RATE=', says: 'the default is 0.00001' },
    { file: '.env.example', from: ',http://b/v1', to: '', says: 'URLS of apps/answerer/src/config.ts' },
    { file: '.env.example', from: 'STRICT=0', to: 'STRICT=1', says: 'STRICT of apps/answerer/src/config.ts' },
    { file: '.env.example', from: 'KEY=', to: 'KEY=abc', says: 'KEY of apps/answerer/src/config.ts is a secret' },
    { file: '.env.example', from: '# STRICT=0', to: '# STRICT=0\n# STRICT=0', says: 'shows STRICT twice' },
    { file: '.env.example', from: '# CRASH_AT=\n', to: '', says: 'CRASH_AT is in the code' },
    { file: '.env.example', from: '# RATE=5e-3', to: '# RATE=0.005', says: 'demo preset: RATE is 5e-3' },
    { file: '.env.example', from: '# RATE=5e-3', to: '# RATE=5e-3\n# SEED=1', says: 'demo preset: SEED is documented' },
    { file: '.env.example', from: '# RATE=1e-5', to: '# RATE=2e-5', says: 'service preset: RATE=2e-5' },
    { file: '.env.example', from: '# ===== preset service', to: '# ===== preset other', says: 'belongs to nothing' },
    { file: 'README.md', from: 'docs/errors.md', to: 'docs/gone.md', says: 'README.md links to docs/gone.md' },
    {
      file: 'docs/decisions/README.md',
      from: '../errors.md',
      to: 'errors.md',
      says: 'docs/decisions/README.md links to errors.md',
    },
  ])('finds it: $says', ({ file, from, to, says }) => {
    const changed = agreeing[file]!.replace(from, to);
    expect(changed).not.toBe(agreeing[file]);
    expect(problemsOf({ ...agreeing, [file]: changed }).join('\n')).toContain(says);
  });
});
