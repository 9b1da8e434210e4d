// `npm run service -- <app> [--env-file FILE]`: runs one built app in this very process.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { giveUp, root } from './setup.mjs';

const apps = ['gateway', 'judge-svc', 'teacher-svc', 'dispatcher', 'trainer', 'engine', 'demo-judge'];
const [app, flag, envFile] = process.argv.slice(2);
if (app === '--help' || app === '-h' || !app) {
  process.stdout.write(
    `npm run service -- <app> [--env-file FILE]\n\nStarts one app, configured by the environment (.env.example lists every variable).\nA variable that is set already wins over the file.\nApps: ${apps.join(', ')}\n`,
  );
  process.exit(app ? 0 : 2);
}
if (!apps.includes(app)) giveUp(`There is no app "${app}". Apps: ${apps.join(', ')}`);
const main = join(root, 'apps', app, 'dist/main.js');
if (!existsSync(main)) giveUp(`${app} is not built. Run: npm ci && npm run build`);
if (flag !== undefined) {
  if (flag !== '--env-file' || !envFile || !existsSync(envFile))
    giveUp('usage: npm run service -- <app> [--env-file FILE]');
  process.loadEnvFile(envFile);
}
process.argv = [process.argv[0], main];
await import(pathToFileURL(main).href);
