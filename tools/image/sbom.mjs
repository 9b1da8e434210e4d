// A bill of materials of one image's /app: CycloneDX 1.6, JSON. Base image and native libraries outside of /app are not in it.
import { Buffer } from 'node:buffer';
import { join, relative, sep } from 'node:path';
import { readFileSync } from 'node:fs';

/**
 * @param {{ name: string, root: string, packages: Map<string, import('./package-closure.mjs').InstalledPackage>, locked: Map<string, { integrity?: string }>, own: Set<string> }} closure
 * @returns {object} the same bytes for the same closure: no serial number, no time
 */
export function sbomOf({ name, root, packages, locked, own }) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const subject = {
    type: 'application',
    'bom-ref': `hindcast-${name}@${version}`,
    name: `hindcast-${name}`,
    version,
    licenses: licensesOf('MIT'),
  };
  const components = [...packages.values()].map((entry) => componentOf(entry, locked.get(entry.folder), root));
  const refs = new Map([...packages.keys()].map((folder, i) => [folder, components[i]['bom-ref']]));
  const libraries = [...new Set([...own].map((file) => relative(root, file).split(sep)))]
    .filter(([kind]) => kind === 'libs')
    .map(([, library]) => library);
  for (const library of [...new Set(libraries)].sort())
    components.push({
      type: 'library',
      'bom-ref': `@hindcast/${library}@${version}`,
      group: '@hindcast',
      name: library,
      version,
      licenses: licensesOf('MIT'),
    });
  components.sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1));
  const needed = new Set([...packages.values()].flatMap(({ needs }) => needs));
  const direct = [...packages.keys()].filter((folder) => !needed.has(folder)).map((folder) => refs.get(folder));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: subject },
    components,
    dependencies: [
      {
        ref: subject['bom-ref'],
        dependsOn: [...direct, ...[...new Set(libraries)].map((library) => `@hindcast/${library}@${version}`)].sort(),
      },
      ...[...packages.values()].map(({ folder, needs }) => ({
        ref: refs.get(folder),
        dependsOn: [...new Set(needs.map((need) => refs.get(need)))].sort(),
      })),
    ].sort((a, b) => (a.ref < b.ref ? -1 : 1)),
  };
}

function componentOf({ name, version, folder, manifest }, locked, root) {
  const [group, bare] = name.startsWith('@') ? name.split('/') : [undefined, name];
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const place = relative(root, folder).split(sep).join('/');
  return {
    type: 'library',
    // The same version may lie in two places.
    'bom-ref': place === `node_modules/${name}` ? purl : `${purl}#${place}`,
    ...(group ? { group } : {}),
    name: bare,
    version,
    scope: 'required',
    ...(locked?.integrity ? { hashes: hashesOf(locked.integrity) } : {}),
    licenses: licensesOf(licenseIn(manifest)),
    purl,
  };
}

/** `sha512-<base64>` → CycloneDX hashes. */
function hashesOf(integrity) {
  const names = { sha1: 'SHA-1', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' };
  return integrity.split(/\s+/).map((entry) => {
    const at = entry.indexOf('-');
    return { alg: names[entry.slice(0, at)], content: Buffer.from(entry.slice(at + 1), 'base64').toString('hex') };
  });
}

function licenseIn({ license, licenses }) {
  if (typeof license === 'string') return license;
  return license?.type ?? [licenses ?? []].flat()[0]?.type;
}

/** An SPDX expression stands alone; a single id or a name is a license. */
function licensesOf(license) {
  if (!license) return [];
  if (/ (OR|AND|WITH) /.test(license)) return [{ expression: license }];
  return [{ license: /^[A-Za-z0-9.+-]+$/.test(license) ? { id: license } : { name: license } }];
}
