// Generates the Prisma client into src/generated when it is older than the schema. Called by the root build before tsc.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = path.dirname(fileURLToPath(import.meta.url));
const schema = path.join(folder, 'schema.prisma');
const generated = path.join(folder, '../src/generated');
const stamp = path.join(generated, 'schema.sha256');
const require = createRequire(import.meta.url);

const hash = createHash('sha256')
  .update(readFileSync(schema))
  .update(require('prisma/package.json').version)
  .digest('hex');
const isUpToDate =
  existsSync(stamp) && readFileSync(stamp, 'utf8') === hash && existsSync(path.join(generated, 'client.ts'));

if (!isUpToDate) {
  const cli = path.join(path.dirname(require.resolve('prisma/package.json')), 'build/index.js');
  const run = spawnSync(process.execPath, [cli, 'generate', '--schema', schema], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...process.env,
      // The CLI wants to download a schema engine that `generate` does not use; any existing file makes it content.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      CHECKPOINT_DISABLE: '1',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
    },
  });
  if (run.status !== 0) {
    process.stderr.write(`prisma generate failed\n${run.stdout}${run.stderr}\n`);
    process.exit(run.status ?? 1);
  }
  mkdirSync(generated, { recursive: true });
  writeFileSync(stamp, hash);
}
