// `npm run image -- prune`: the folder that becomes /app of an image.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { COMPUTED_LOADS, imageOf } from './images.mjs';
import { moduleGraph, packageNameOf, packageOfFile, resolveFrom } from './module-graph.mjs';
import { lockedPackages, packageClosure } from './package-closure.mjs';
import { sbomOf } from './sbom.mjs';
import { isKept, READ_AS_DATA, TRACED } from './trim.mjs';

const WORKSPACE = '@hindcast/';

/**
 * Copies what an image needs out of a built checkout, and nothing else: the compiled files that its entries load, its data files, and the
 * packages that those name, with what these need. Needs no network.
 *
 * @param {{ name: string, root: string, out: string }} options name of the image; the checkout; an empty or missing folder
 * @throws Error when the checkout is not built, differs from package-lock.json, or loads what is not known
 */
export function prune({ name, root, out }) {
  if (isInside(out, root)) throw new Error(`${out} lies in the checkout, which is no place for an image's files`);
  const { image, own, outside } = ownFiles(name, root);
  if (existsSync(out) && readdirSync(out).length > 0) throw new Error(`${out} is not empty`);
  const packages = packageClosure(
    [...outside.keys()].map((specifier) => ({ name: packageNameOf(specifier), from: root })),
    new Set(image.without),
  );
  const locked = lockedPackages(packages.values(), root);

  for (const file of own) copyFile(file, join(out, placeOf(file, root)));
  for (const file of image.files) {
    const from = join(root, 'apps', image.app, file);
    cpSync(from, join(out, relative(root, from)), { recursive: true });
  }
  const traced = tracedFiles(outside, packages, root);
  for (const { name: packageName, folder } of packages.values())
    copyPackage(packageName, folder, join(out, relative(root, folder)), traced.get(folder));
  writeManifests(image, own, root, out);
  copyFile(join(root, 'LICENSE'), join(out, 'LICENSE'));
  copyFile(join(root, 'tools/image/healthcheck.mjs'), join(out, 'healthcheck.mjs'));
  writeFileSync(
    join(out, 'sbom.cdx.json'),
    `${JSON.stringify(sbomOf({ name, root, packages, locked, own }), null, 2)}\n`,
  );
  openToReaders(out);
  return { files: own.size, packages: packages.size };
}

/** Whether a folder, which need not exist yet, is another or lies in it, links followed. */
function isInside(folder, other) {
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  const real = join(realpathSync(existing), relative(existing, folder));
  const path = relative(realpathSync(other), real);
  return path === '' || !(path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path));
}

/** The compiled files of ours that an image loads, and the names of modules that are not ours. */
export function ownFiles(name, root) {
  const image = imageOf(name);
  const folder = join(root, 'apps', image.app);
  const entries = ['dist/main.js', ...image.entries].map((entry) => join(folder, entry));
  for (const path of [...entries, ...image.files.map((file) => join(folder, file))])
    if (!existsSync(path)) throw new Error(`${path} is not there (npm run build)`);
  const { files, outside, computed } = moduleGraph(
    entries,
    (specifier) => specifier.startsWith('.') || specifier.startsWith(WORKSPACE),
  );
  const unknown = computed.map((file) => placeIn(file, root)).filter((file) => COMPUTED_LOADS[file] === undefined);
  if (unknown.length > 0)
    throw new Error(
      `these load something under a computed name; say what in tools/image/images.mjs:\n${unknown.join('\n')}`,
    );
  for (const specifier of image.packages) outside.set(specifier, new Set([folder]));
  return { image, own: new Set([...files].map((file) => realpathSync(file))), outside };
}

const placeIn = (file, root) => relative(root, file).split(sep).join('/');

/** Apps stay where they are; libraries lie where Node looks for them. */
function placeOf(file, root) {
  const path = relative(root, file);
  return path.startsWith(`libs${sep}`) ? join('node_modules', WORKSPACE, path.slice(5)) : path;
}

/** Of the traced packages, the files that the image loads, by folder. */
function tracedFiles(outside, packages, root) {
  const isTraced = (specifier, from) =>
    TRACED.has(packageNameOf(specifier)) || (specifier.startsWith('.') && TRACED.has(packageOfFile(from).name));
  const starts = [];
  const wanted = [...outside].flatMap(([specifier, users]) => [...users].map((from) => [specifier, from]));
  for (const { folder, name } of packages.values()) {
    if (TRACED.has(name)) continue;
    for (const path of keptFiles(name, folder))
      for (const specifier of tracedIn(join(folder, path))) wanted.push([specifier, join(folder, path)]);
  }
  for (const [specifier, from] of wanted) {
    if (!isTraced(specifier, from)) continue;
    const file = resolveFrom(specifier, statSync(from).isDirectory() ? join(from, 'package.json') : from);
    // A text in quotes need not be a module.
    if (file !== null) starts.push(file);
  }
  const { files } = moduleGraph(starts, isTraced);
  const byFolder = new Map();
  for (const file of files) {
    const { folder } = packageOfFile(file);
    if (!folder.startsWith(root)) continue;
    byFolder.set(folder, (byFolder.get(folder) ?? new Set()).add(placeIn(file, folder)));
  }
  return byFolder;
}

/** What a package that is copied whole loads of the traced ones: any text in quotes that names them. */
function tracedIn(file) {
  if (!/\.[cm]?js$/.test(file)) return [];
  const quoted = readFileSync(file, 'utf8').matchAll(/['"`]((?:@[\w.-]+\/)?[\w.-]+(?:\/[\w./-]*)?)['"`]/g);
  return new Set(
    [...quoted].map(([, specifier]) => specifier).filter((specifier) => TRACED.has(packageNameOf(specifier))),
  );
}

/** Paths inside of a package, with slashes, that may belong in an image. */
function keptFiles(name, folder) {
  return (
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => placeIn(join(entry.parentPath, entry.name), folder))
      // A package inside of this one is copied on its own, when it is needed.
      .filter((path) => !path.startsWith('node_modules/') && isKept(name, path))
  );
}

/** @param {Set<string> | undefined} loaded files that are loaded, for a traced package */
function copyPackage(name, from, to, loaded) {
  for (const path of keptFiles(name, from))
    if (!TRACED.has(name) || isKeptOfTraced(name, path, loaded)) copyFile(join(from, path), join(to, path));
}

function isKeptOfTraced(name, path, loaded = new Set()) {
  if (loaded.has(path) || /(^|\/)package\.json$/.test(path) || /^(licen[cs]e|notice|copying)/i.test(path)) return true;
  return (READ_AS_DATA[name] ?? []).some((pattern) => pattern.test(path));
}

function copyFile(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}

/** Whatever the umask of the checkout: everybody may read, only the owner may write. */
function openToReaders(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const runs = entry.isDirectory() || (statSync(path).mode & 0o100) !== 0;
    chmodSync(path, runs ? 0o755 : 0o644);
  }
  chmodSync(folder, 0o755);
}

/** package.json of the whole, of the app and of each library: no scripts, no development dependencies. */
function writeManifests(image, own, root, out) {
  const { name, version, license, engines } = readJson(join(root, 'package.json'));
  writeJson(join(out, 'package.json'), { name, version, private: true, license, engines });
  const folders = new Set([...own].map((file) => relative(root, file).split(sep).slice(0, 2).join(sep)));
  for (const folder of folders) {
    const manifest = readJson(join(root, folder, 'package.json'));
    const { name, version, license, main, exports, type } = manifest;
    writeJson(join(out, placeOf(join(root, folder, 'package.json'), root)), {
      name,
      version,
      private: true,
      license,
      type,
      main,
      exports,
    });
  }
}

export const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

function writeJson(path, value) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
