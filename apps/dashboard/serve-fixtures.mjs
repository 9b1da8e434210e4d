// `node apps/dashboard/serve-fixtures.mjs [full|empty|failing|slow|locked] [port]`: builds the page and serves it with made-up data,
// to look at it without anything behind it. /ui/turns/long is a turn of 8,000 tokens.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const here = dirname(fileURLToPath(import.meta.url));
const [scenario = 'full', port = '4173'] = process.argv.slice(2);
spawnSync(process.execPath, [join(here, 'build.mjs')], { stdio: 'inherit' });
const { module } = await runnerImport(join(here, 'src/testing/fixture-server.ts'), {
  configFile: false,
  resolve: { alias: { '@hindcast/contracts': join(here, '../../libs/contracts/src/index.ts') } },
});
const { url } = await module.startFixtureServer(join(here, 'dist'), scenario, Number(port));
process.stdout.write(`${url} (${scenario})\n`);
