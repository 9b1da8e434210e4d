// Every row of docs/cases.md is shown by a test whose title has the row's number, in every file that the row names, and no title has a
// number without a row. Fails with a list of what differs. `node tools/check-cases.mjs [folder]`
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = resolve(process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url))));
const DOCUMENT = 'docs/cases.md';
/** The gateway's rows; those after them are listed where there are tests. */
const ALWAYS_LISTED = 55;
const LAST = 83;
const SKIPPED = new Set(['node_modules', 'dist', 'out-tsc']);
const NUMBER = /\bD(\d+)\b/g;
const problems = [];

const rows = rowsOf(readFileSync(join(root, DOCUMENT), 'utf8'));
const specs = ['apps', 'libs', 'e2e'].flatMap((folder) => specsIn(folder));
const numbers = new Map(specs.map((path) => [path, numbersIn(path)]));
checkRows();
checkTitles();
if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`);
  process.exit(1);
}

/** Number and files of each row of the tables. */
function rowsOf(text) {
  const found = new Map();
  for (const line of text.split('\n')) {
    const cells = line.split('|').map((cell) => cell.trim());
    const number = /^D(\d+)$/.exec(cells[1] ?? '')?.[1];
    if (number === undefined) continue;
    if (found.has(Number(number))) problems.push(`${DOCUMENT} has the row D${number} twice`);
    if (cells.slice(1, 6).some((cell) => cell === '')) problems.push(`${DOCUMENT}: a cell of row D${number} is empty`);
    const files = [...(cells[5] ?? '').matchAll(/\]\(([^)]+)\)/g)].map(([, link]) =>
      posix.join(posix.dirname(DOCUMENT), link),
    );
    found.set(Number(number), files);
  }
  return found;
}

function checkRows() {
  for (let number = 1; number <= ALWAYS_LISTED; number++)
    if (!rows.has(number)) problems.push(`${DOCUMENT} has no row D${number}`);
  for (const [number, files] of rows) {
    if (number < 1 || number > LAST) problems.push(`${DOCUMENT} has a row D${number}, and there is no such case`);
    if (files.length === 0) problems.push(`${DOCUMENT}: row D${number} names no test file`);
    if (![...numbers.values()].some((titled) => titled.has(number)))
      problems.push(`no test's title has the number of row D${number}`);
    for (const file of files)
      if (!numbers.get(file)?.has(number)) problems.push(`${file} has no test for row D${number}, which names it`);
  }
}

function checkTitles() {
  for (const [path, titled] of numbers)
    for (const number of titled)
      if (!rows.has(number)) problems.push(`${path}: D${number} is in a title and has no row in ${DOCUMENT}`);
}

function specsIn(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : specsIn(path);
    return entry.name.endsWith('spec.ts') ? [path] : [];
  });
}

/** Numbers in the titles of a file's tests; in a title with `$name`, those of the rows' `name`; with `%s`, of the rows' own texts. */
function numbersIn(path) {
  const source = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest, true);
  const titles = [];
  const shown = new Set();
  visit(source, (node) => {
    if (!ts.isCallExpression(node) || !/^(it|test|describe)\b/.test(node.expression.getText())) return;
    const title = textOf(node.arguments[0]);
    if (title === null) return;
    titles.push(title);
    for (const [, name] of title.matchAll(/\$(\w+)/g)) shown.add(name);
    if (/%[sjp]/.test(title)) titles.push(...textsOf(tableOf(node.expression)));
  });
  visit(source, (node) => {
    if (ts.isPropertyAssignment(node) && shown.has(node.name.getText())) titles.push(textOf(node.initializer) ?? '');
  });
  return new Set(titles.flatMap((title) => [...title.matchAll(NUMBER)].map(([, number]) => Number(number))));
}

/** The table in `it.each(table)`. */
function tableOf(callee) {
  return ts.isCallExpression(callee) ? callee.arguments[0] : undefined;
}

function textsOf(table) {
  const texts = [];
  if (table) visit(table, (node) => texts.push(textOf(node) ?? ''));
  return texts;
}

/** The text of a literal; of a template what stands around its holes. */
function textOf(node) {
  if (node === undefined) return null;
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return [node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join('…');
}

function visit(node, see) {
  see(node);
  node.forEachChild((child) => visit(child, see));
}
