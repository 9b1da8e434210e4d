// The contract table, the services and docs/subjects.md agree: who publishes, who handles, and that no subject is written out anywhere
// else. Fails with a list of what differs. `node tools/check-contracts.mjs [folder]`
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = resolve(process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url))));
const problems = [];

const contracts = tableOf('libs/contracts/src/registry.ts', 'contracts');
const queries = tableOf('libs/contracts/src/query.ts', 'queries');
const surveys = tableOf('libs/contracts/src/query.ts', 'surveys');
/** The ledger's queries and commands have one asker and one answerer; a survey is answered by every process, in libs/platform. */
const ASKER = 'gateway';
const ANSWERER = 'dispatcher';
const EVERYBODY = 'libs/platform';

const uses = appNames().flatMap((app) => sourcesOf(join('apps', app, 'src')).flatMap((path) => usesOf(app, path)));
checkCalls('publish', contracts, ({ publisher }) => [publisher]);
checkCalls('handle', contracts, ({ handlers }) => handlers);
checkCalls('request', queries, () => [ASKER]);
checkCalls('respond', queries, () => [ANSWERER]);
checkCalls('gather', surveys, () => [ASKER]);
checkLiterals();
checkDocument();
if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`);
  process.exit(1);
}

/** The entries of an object literal as the source has it: string and string-list properties only. */
function tableOf(path, variable) {
  const table = new Map();
  visit(parse(path), (node) => {
    if (!ts.isVariableDeclaration(node) || node.name.getText() !== variable) return;
    for (const entry of objectOf(node.initializer).properties) {
      const fields = {};
      for (const property of objectOf(entry.initializer).properties) {
        const value = property.initializer;
        if (ts.isStringLiteral(value)) fields[property.name.getText()] = value.text;
        if (ts.isArrayLiteralExpression(value))
          fields[property.name.getText()] = value.elements.map(({ text }) => text);
      }
      table.set(entry.name.getText(), fields);
    }
  });
  if (table.size === 0) throw new Error(`${path} has no table ${variable}`);
  return table;
}

function objectOf(node) {
  let inner = node;
  while (!ts.isObjectLiteralExpression(inner)) inner = inner.expression;
  return inner;
}

/** What a file does with the bus: calls of `bus.publish|publishMade|request|respond|gather`, and `@EventPattern` handlers. */
function usesOf(app, path) {
  const found = [];
  visit(parse(path), (node) => {
    if (!ts.isCallExpression(node)) return;
    const callee = node.expression.getText();
    const [first] = node.arguments;
    const method = /(?:^|\.)bus\.(publish|request|respond|gather|store)(?:Made)?$/i.exec(callee)?.[1];
    if (method === 'store') problems.push(`${path}: bus.store is the platform's own; publish by a contract's name`);
    else if (method && first && ts.isStringLiteral(first)) found.push({ app, path, kind: method, name: first.text });
    else if (method)
      problems.push(`${path}: bus.${method} must name its message by a string literal, so that it can be checked`);
    if (callee === 'EventPattern') {
      const name = /^contracts\.(\w+)\.subject$/.exec(first?.getText() ?? '')?.[1];
      if (name) found.push({ app, path, kind: 'handle', name });
      else problems.push(`${path}: @EventPattern must name its subject as contracts.<name>.subject`);
    }
  });
  return found;
}

function checkCalls(kind, table, expectedApps) {
  for (const { app, path, name } of uses.filter((use) => use.kind === kind)) {
    if (!table.has(name)) problems.push(`${path}: ${kind} of ${name}, which no contract names`);
    else if (!expectedApps(table.get(name)).includes(app)) problems.push(`${path}: ${app} must not ${kind} ${name}`);
  }
  for (const [name, contract] of table) {
    for (const app of expectedApps(contract).filter((expected) => expected !== 'libs/platform')) {
      const sites = uses.filter((use) => use.kind === kind && use.name === name && use.app === app);
      if (sites.length === 0) problems.push(`${app} does not ${kind} ${name}, as its contract says`);
      if (kind === 'handle' && sites.length > 1) problems.push(`${app} handles ${name} ${sites.length} times`);
    }
  }
}

/** Subjects are written out in libs/contracts only; specs may, to be independent of the table. */
function checkLiterals() {
  for (const folder of ['apps', 'libs', 'tools', 'e2e']) {
    for (const path of sourcesOf(folder)) {
      if (path.startsWith('libs/contracts/') || path === 'tools/check-contracts.mjs') continue;
      visit(parse(path), (node) => {
        const isText =
          ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
        if (isText && /\brl\.(v\d|query|command)\./.test(node.text))
          problems.push(`${path}: the subject ${node.text} is written out`);
      });
    }
  }
}

/** Rows of docs/subjects.md: `| subject | publisher | handlers | … |`. */
function checkDocument() {
  const rows = [
    ...readFileSync(join(root, 'docs/subjects.md'), 'utf8').matchAll(/^\| `(rl\.[^`]+)` +\|([^|]*)\|([^|]*)\|/gm),
  ];
  const documented = new Map(
    rows.map(([, subject, publisher, handlers]) => [
      subject,
      `${publisher.trim()} → ${handlers
        .split(',')
        .map((app) => app.trim())
        .sort()
        .join(', ')}`,
    ]),
  );
  const coded = new Map(
    [...contracts.values()].map(({ subject, publisher, handlers }) => [
      subject,
      `${publisher} → ${[...handlers].sort().join(', ')}`,
    ]),
  );
  for (const { subject } of queries.values()) coded.set(subject, `${ASKER} → ${ANSWERER}`);
  for (const { subject } of surveys.values()) coded.set(subject, `${ASKER} → ${EVERYBODY}`);
  for (const [subject, roles] of coded) {
    if (!documented.has(subject)) problems.push(`docs/subjects.md lacks ${subject}`);
    else if (documented.get(subject) !== roles)
      problems.push(`docs/subjects.md says ${documented.get(subject)} of ${subject}, the code says ${roles}`);
  }
  for (const subject of documented.keys())
    if (!coded.has(subject)) problems.push(`docs/subjects.md has ${subject}, which no contract names`);
}

function appNames() {
  return readdirSync(join(root, 'apps'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

/** Source files below a folder, without specs, what only tests use, and what is built. */
function sourcesOf(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(ts|mts|cts|tsx|js|mjs|cjs)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)).replaceAll('\\', '/'))
    .filter((path) => !/(^|\/)(node_modules|dist|out-tsc|generated|testing|fixtures)\//.test(path))
    .filter((path) => !/\.((int|e2e)-)?spec\.[cm]?ts$|\.d\.ts$/.test(path));
}

function parse(path) {
  return ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest, true);
}

function visit(node, look) {
  look(node);
  ts.forEachChild(node, (child) => visit(child, look));
}
