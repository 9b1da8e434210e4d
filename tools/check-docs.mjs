// The documents agree with the code: every error code, every variable, every linked file. Fails with a list of what differs.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url))));
const read = (path) => readFileSync(join(root, path), 'utf8');
const problems = [];
const compare = (what, code, docs) => {
  for (const name of code) if (!docs.has(name)) problems.push(`${what} ${name} is in the code but not in the documents`);
  for (const name of docs) if (!code.has(name)) problems.push(`${what} ${name} is documented but not in the code`);
};

const errorTable = /export const errorCodes = \{([\s\S]*?)\n\} as const/.exec(read('libs/contracts/src/errors.ts'));
compare(
  'error code',
  new Set([...errorTable[1].matchAll(/^ {2}'?([a-z][a-z-]*)'?:/gm)].map((match) => match[1])),
  new Set([...read('docs/errors.md').matchAll(/^\| `([a-z-]+)` \|/gm)].map((match) => match[1])),
);
for (const [, code, retry] of errorTable[1].matchAll(/^ {2}'?([a-z][a-z-]*)'?: \{ retry: (true|false) \}/gm)) {
  const row = new RegExp(`^\\| \`${code}\` \\|[^|]*\\| (yes|no) \\|`, 'm').exec(read('docs/errors.md'));
  if (row && (row[1] === 'yes') !== (retry === 'true')) problems.push(`error code ${code}: docs/errors.md says retry ${row[1]}, the code says ${retry}`);
}

const configs = ['libs/platform/src/config.ts', ...readdirSync(join(root, 'apps')).map((app) => `apps/${app}/src/config.ts`)];
const variables = configs
  .filter((path) => existsSync(join(root, path)))
  .flatMap((path) => [...read(path).matchAll(/^\s+([A-Z][A-Z0-9_]{2,}): /gm)].map((match) => match[1]));
compare(
  'variable',
  new Set([...variables, 'CRASH_AT', 'NATS_SERVER_BIN']),
  new Set([...read('.env.example').matchAll(/^#? ?([A-Z][A-Z0-9_]{2,})=/gm)].map((match) => match[1])),
);

const documents = ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)];
for (const path of documents) {
  for (const [, target] of read(path).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)) {
    if (!existsSync(join(root, dirname(path), target))) problems.push(`${path} links to ${target}, which does not exist`);
  }
}

if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`);
  process.exit(1);
}
