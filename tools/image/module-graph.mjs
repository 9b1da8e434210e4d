// Which files a program loads: found by reading them, without running anything.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { builtinModules, createRequire } from 'node:module';
import { dirname, extname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';

const builtins = new Set(builtinModules);
export const isBuiltin = (name) => name.startsWith('node:') || builtins.has(name.split('/')[0]);

/** `@scope/name/sub/path` → `@scope/name`. */
export const packageNameOf = (specifier) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/**
 * What one module names in `require('…')`, `import('…')` and `import … from '…'`.
 *
 * @returns {{ specifiers: string[], computes: boolean }} `computes`: it also loads something under a name that is not written out
 */
export function readModule(path) {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const specifiers = new Set();
  let computes = false;
  const visit = (node) => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier)
      specifiers.add(node.moduleSpecifier.text);
    if (ts.isCallExpression(node) && loads(node)) {
      const [name] = node.arguments;
      if (name && ts.isStringLiteralLike(name)) specifiers.add(name.text);
      else computes = true;
    }
    if (ts.isIdentifier(node) && ['__dirname', '__filename', 'createRequire'].includes(node.text)) computes = true;
    if (ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword) computes = true;
    node.forEachChild(visit);
  };
  visit(source);
  return { specifiers: [...specifiers], computes };
}

const loads = ({ expression }) =>
  expression.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(expression) && expression.text === 'require');

/**
 * All files that `entries` load, directly or not, through `follow`.
 *
 * @param {readonly string[]} entries absolute paths
 * @param {(specifier: string, from: string) => boolean} follow whether the module belongs to the graph; else its name is collected in `outside`
 * @returns {{ files: Set<string>, outside: Map<string, Set<string>>, computed: string[] }} `outside`: specifier → files that name it
 */
export function moduleGraph(entries, follow) {
  const files = new Set();
  const outside = new Map();
  const computed = [];
  const queue = [...entries];
  while (queue.length > 0) {
    const file = queue.pop();
    if (files.has(file)) continue;
    files.add(file);
    if (!['.js', '.mjs', '.cjs'].includes(extname(file))) continue;
    const { specifiers, computes } = readModule(file);
    if (computes) computed.push(file);
    for (const specifier of specifiers) {
      if (isBuiltin(specifier)) continue;
      if (follow(specifier, file)) {
        const target = resolveFrom(specifier, file);
        if (target !== null) queue.push(target);
      } else outside.set(specifier, (outside.get(specifier) ?? new Set()).add(file));
    }
  }
  return { files, outside, computed };
}

/** Path of the file that Node would load, or null. */
export function resolveFrom(specifier, from) {
  try {
    return createRequire(pathToFileURL(from)).resolve(specifier);
  } catch {
    return null;
  }
}

/** Folder of the package that Node would take for a name, looked for from `from` upwards as Node does; null when there is none. */
export function packageFolder(name, from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json')) && statSync(candidate).isDirectory()) return candidate;
    if (dirname(folder) === folder) return null;
  }
}

/** Name and folder of the package that a file lies in. */
export function packageOfFile(path) {
  const at = path.lastIndexOf(`${sep}node_modules${sep}`);
  const parts = path.slice(at).split(sep).slice(2);
  const name = parts.slice(0, parts[0].startsWith('@') ? 2 : 1).join('/');
  return { name, folder: join(path.slice(0, at), 'node_modules', name) };
}
