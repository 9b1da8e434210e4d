// `npm run service -- <app>`: runs one built app in this very process.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { giveUp, root } from './setup.mjs';

const apps = ['gateway', 'judge-svc', 'teacher-svc', 'dispatcher', 'trainer', 'engine', 'demo-judge'];
const [app] = process.argv.slice(2);
if (app === '--help' || app === '-h' || !app) {
  process.stdout.write(`npm run service -- <app>\n\nStarts one app, configured by the environment (.env.example lists every variable).\nApps: ${apps.join(', ')}\n`);
  process.exit(app ? 0 : 2);
}
if (!apps.includes(app)) giveUp(`There is no app "${app}". Apps: ${apps.join(', ')}`);
const main = join(root, 'apps', app, 'dist/main.js');
if (!existsSync(main)) giveUp(`${app} is not built. Run: npm ci && npm run build`);
process.argv.splice(1, 2, main);
await import(pathToFileURL(main).href);
