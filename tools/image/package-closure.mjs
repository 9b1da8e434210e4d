// The installed packages that a set of packages needs, as Node would find them from where they lie.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { packageFolder } from './module-graph.mjs';
import { UNREACHED } from './trim.mjs';

/**
 * @typedef {object} InstalledPackage
 * @property {string} folder absolute
 * @property {string} name
 * @property {string} version
 * @property {object} manifest its package.json
 * @property {string[]} needs folders of the packages that it depends on
 */

/**
 * Walks `dependencies`, those of `optionalDependencies` that are installed and fit this machine, and peers that are not optional.
 *
 * @param {readonly { name: string, from: string }[]} wanted packages, each as seen from a folder
 * @param {ReadonlySet<string>} without names that are left out with all that only they need
 * @returns {Map<string, InstalledPackage>} by folder
 * @throws Error when one is not installed
 */
export function packageClosure(wanted, without = new Set()) {
  const found = new Map();
  const add = (name, from, isOptional) => {
    if (without.has(name)) return null;
    const folder = packageFolder(name, from);
    if (folder === null) {
      if (isOptional) return null;
      throw new Error(`${name}, which ${from} needs, is not installed (npm ci)`);
    }
    if (found.has(folder)) return folder;
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    if (!fits(manifest)) {
      if (isOptional) return null;
      throw new Error(`${name} is not for ${process.platform}-${process.arch}`);
    }
    const entry = { folder, name, version: manifest.version, manifest, needs: [] };
    found.set(folder, entry);
    const optional = manifest.optionalDependencies ?? {};
    for (const needed of Object.keys({ ...manifest.dependencies, ...optional, ...requiredPeers(manifest) })) {
      if (UNREACHED[name]?.[needed] !== undefined) continue;
      const at = add(needed, folder, needed in optional);
      if (at !== null) entry.needs.push(at);
    }
    return folder;
  };
  for (const { name, from } of wanted) add(name, from, false);
  return found;
}

const requiredPeers = ({ peerDependencies = {}, peerDependenciesMeta = {} }) =>
  Object.fromEntries(Object.entries(peerDependencies).filter(([name]) => !peerDependenciesMeta[name]?.optional));

/** `os` and `cpu` of a package.json: names, or names to keep away from with `!`. */
export function fits({ os, cpu }, platform = process.platform, arch = process.arch) {
  return allows(os, platform) && allows(cpu, arch);
}

function allows(list, value) {
  const names = list === undefined ? [] : [list].flat();
  if (names.includes(`!${value}`)) return false;
  const asked = names.filter((name) => !name.startsWith('!'));
  return asked.length === 0 || asked.includes(value) || asked.includes('any');
}

/**
 * Every package of the closure is the one that package-lock.json names.
 *
 * @param {Iterable<InstalledPackage>} packages
 * @param {string} root folder of package-lock.json
 * @returns {Map<string, { version: string, integrity?: string, license?: string }>} by folder: what the lock says
 * @throws Error that lists the others
 */
export function lockedPackages(packages, root) {
  const lock = join(root, 'package-lock.json');
  if (!existsSync(lock)) throw new Error(`${lock} is not there`);
  const { packages: entries } = JSON.parse(readFileSync(lock, 'utf8'));
  const locked = new Map();
  const problems = [];
  for (const { folder, name, version } of packages) {
    const entry = entries[folder.slice(root.length + 1)];
    if (entry === undefined) problems.push(`${name} ${version} (${folder}) is not in package-lock.json`);
    else if (entry.version !== version) problems.push(`${name} is ${version}, package-lock.json says ${entry.version}`);
    else if (entry.dev) problems.push(`${name} is a development dependency`);
    else locked.set(folder, entry);
  }
  if (problems.length > 0)
    throw new Error(`node_modules is not what package-lock.json says (npm ci):\n${problems.join('\n')}`);
  return locked;
}
