// `node --import ./tools/installed.mjs …`: before a tool whose own imports are packages. Says what to run where they are not installed.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
if (!existsSync(join(root, 'node_modules/.package-lock.json'))) {
  process.stderr.write('The dependencies are not installed. Run: npm ci\n');
  process.exit(1);
}
