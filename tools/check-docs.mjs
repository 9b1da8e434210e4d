// The documents agree with the code: every error code, every variable with its default, every linked file. Fails with a list of
// what differs. `node tools/check-docs.mjs [folder]`
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url))));
const read = (path) => readFileSync(join(root, path), 'utf8');
const problems = [];
const compare = (what, code, docs) => {
  for (const name of code)
    if (!docs.has(name)) problems.push(`${what} ${name} is in the code but not in the documents`);
  for (const name of docs) if (!code.has(name)) problems.push(`${what} ${name} is documented but not in the code`);
};

checkErrorCodes();
checkVariables();
checkLinks();
if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`);
  process.exit(1);
}

function checkErrorCodes() {
  const errorTable = /export const errorCodes = \{([\s\S]*?)\n\} as const/.exec(
    read('libs/contracts/src/errors.ts'),
  )[1];
  const entries = [...errorTable.matchAll(/^ {2}'?([a-z][a-z-]*)'?: \{ retry: (true|false) \}/gm)];
  const rows = [...read('docs/errors.md').matchAll(/^\| `([a-z-]+)` +\|[^|]*\| (yes|no) +\|/gm)];
  const documented = new Map(rows.map(([, code, retry]) => [code, retry === 'yes']));
  compare('error code', new Set(entries.map(([, code]) => code)), new Set(documented.keys()));
  for (const [, code, retry] of entries) {
    const said = documented.get(code);
    if (said !== undefined && said !== (retry === 'true'))
      problems.push(`error code ${code}: docs/errors.md says retry ${said ? 'yes' : 'no'}, the code says ${retry}`);
  }
}

/** `.env.example`: one section per config.ts, which its heading names; two that belong to no app; two presets. */
function checkVariables() {
  const common = 'libs/platform/src/config.ts';
  const apps = readdirSync(join(root, 'apps')).map((app) => `apps/${app}/src/config.ts`);
  const configs = [common, ...apps].filter((path) => existsSync(join(root, path)));
  const sections = sectionsOf(read('.env.example'));
  const defaults = new Map();
  for (const path of configs) {
    const declared = declarationsOf(read(path));
    // Every app has a port of its own.
    if (path === common) declared.delete('PORT');
    const section = sections.get(path) ?? new Map();
    sections.delete(path);
    compare(`variable of ${path}:`, new Set(declared.keys()), new Set(section.keys()));
    for (const [name, { value }] of declared) if (value !== undefined) defaults.set(name, value);
    for (const [name, documented] of section) {
      const { value, isSecret } = declared.get(name) ?? {};
      if (isSecret && documented !== '')
        problems.push(`${name} of ${path} is a secret; .env.example must not show a value`);
      if (value !== undefined && !isSame(value, documented))
        problems.push(`${name} of ${path}: the default is ${value}, .env.example says ${documented}`);
    }
  }
  const outside = sections.get('outside the apps') ?? new Map();
  compare('variable outside the apps:', new Set(['CRASH_AT', 'NATS_SERVER_BIN']), new Set(outside.keys()));

  const preset = 'apps/simulator/src/stack/preset.ts';
  const demo = new Map(
    [...read(preset).matchAll(/^\s+([A-Z][A-Z0-9_]+): '([^']*)',$/gm)].map(([, name, value]) => [name, value]),
  );
  const shown = sections.get(preset) ?? new Map();
  compare('demo preset:', new Set(demo.keys()), new Set(shown.keys()));
  for (const [name, value] of demo)
    if (shown.has(name) && shown.get(name) !== value)
      problems.push(`demo preset: ${name} is ${value} in ${preset}, .env.example says ${shown.get(name)}`);
  for (const [name, value] of sections.get('preset service') ?? [])
    if (!defaults.has(name) || !isSame(defaults.get(name), value))
      problems.push(`service preset: ${name}=${value} is not the default, ${defaults.get(name)}`);
  for (const name of ['outside the apps', 'preset service', preset]) sections.delete(name);
  for (const name of sections.keys()) problems.push(`.env.example has a section "${name}" that belongs to nothing`);
}

/** Variables and values by section; a section goes by the file that its heading names, else by the heading. */
function sectionsOf(text) {
  const sections = new Map();
  for (const part of text.split(/^# =+ /m).slice(1)) {
    const heading = part.split('\n', 1)[0].replace(/ =+$/, '');
    const lines = [...part.matchAll(/^#? ?([A-Z][A-Z0-9_]{2,})=(.*)$/gm)];
    for (const [, name] of lines.filter(([, name], i) => lines.findIndex((line) => line[1] === name) < i))
      problems.push(`.env.example shows ${name} twice under "${heading}"`);
    sections.set(
      /(\S+\.ts)$/.exec(heading)?.[1] ?? heading,
      new Map(lines.map(([, name, value]) => [name, value.trim()])),
    );
  }
  return sections;
}

/** Variables of a config.ts, each with its default where that is a literal. */
function declarationsOf(text) {
  const starts = [...text.matchAll(/^\s+([A-Z][A-Z0-9_]{2,}): /gm)];
  const declared = new Map();
  starts.forEach((start, i) => {
    if (declared.has(start[1])) return;
    const source = text.slice(start.index, starts[i + 1]?.index);
    const given = /\.default\(([^()]*)\)/.exec(source)?.[1].trim();
    declared.set(start[1], { value: literalOf(given), isSecret: /: secret\b/.test(source) });
  });
  const port = /commonConfig\((\d+)\)/.exec(text)?.[1];
  if (port) declared.set('PORT', { value: port, isSecret: false });
  return declared;
}

/** The text that an environment would hold for a literal; `undefined` for anything that is computed. */
function literalOf(source) {
  if (source === undefined) return undefined;
  if (source === 'true' || source === 'false') return source === 'true' ? '1' : '0';
  if (/^'[^']*'$/.test(source)) return source.slice(1, -1);
  if (/^\[('[^']*'(, )?)*\]$/.test(source))
    return [...source.matchAll(/'([^']*)'/g)].map(([, entry]) => entry).join(',');
  const factors = source.split('*').map((factor) => factor.trim().replaceAll('_', ''));
  if (factors.some((factor) => factor === '' || Number.isNaN(Number(factor)))) return undefined;
  return String(factors.reduce((product, factor) => product * Number(factor), 1));
}

function isSame(value, documented) {
  if (value === undefined || value === documented) return true;
  return value !== '' && documented !== '' && Number(value) === Number(documented);
}

function checkLinks() {
  const folders = ['docs', 'docs/decisions'].filter((folder) => existsSync(join(root, folder)));
  const documents = folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  );
  for (const path of ['README.md', 'CONTRIBUTING.md', ...documents]) {
    for (const [, target] of read(path).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)) {
      if (!existsSync(join(root, dirname(path), target)))
        problems.push(`${path} links to ${target}, which does not exist`);
    }
  }
}
