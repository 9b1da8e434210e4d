// `npm run image -- sizes`: what each pruned folder weighs.
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IMAGES } from './images.mjs';
import { packageOfFile } from './module-graph.mjs';
import { prune } from './prune.mjs';

const MB = 1_000_000;

/** Bytes of the files of a folder, and of its packages by name. */
export function weigh(folder) {
  let bytes = 0;
  const packages = new Map();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const { size } = statSync(path);
    bytes += size;
    if (!path.includes('node_modules')) continue;
    const { name } = packageOfFile(path);
    packages.set(name, (packages.get(name) ?? 0) + size);
  }
  return { bytes, packages };
}

/** Prunes every image into a temporary folder. @returns rows, in the order of the table */
export function sizes(root) {
  const folder = mkdtempSync(join(tmpdir(), 'hindcast-sizes-'));
  try {
    return Object.keys(IMAGES).map((name) => {
      const out = join(folder, name);
      const { packages } = prune({ name, root, out });
      const weight = weigh(out);
      const heaviest = [...weight.packages].sort((a, b) => b[1] - a[1]).slice(0, 3);
      rmSync(out, { recursive: true });
      return { name, packages, bytes: weight.bytes, heaviest };
    });
  } finally {
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
  }
}

/** As a Markdown table. */
export function sizeTable(rows) {
  const mb = (bytes) => (bytes / MB).toFixed(1);
  return [
    '| image | /app, MB | packages | the heaviest, MB |',
    '| --- | --- | --- | --- |',
    ...rows.map(({ name, bytes, packages, heaviest }) => {
      const list = heaviest.map(([packageName, size]) => `${packageName} ${mb(size)}`).join(', ');
      return `| \`${name}\` | ${mb(bytes)} | ${packages} | ${list} |`;
    }),
  ].join('\n');
}
