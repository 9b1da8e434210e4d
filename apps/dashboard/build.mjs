// `node apps/dashboard/build.mjs`: builds the page into dist/ when its sources changed since the last time, and writes every file
// compressed beside it. Quiet but for one line. Node built-ins and Vite only.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, 'dist');
const stamp = join(dist, '.sources');
/** What a first visit loads has to stay below this, bytes with brotli. */
const FIRST_LOAD_LIMIT = 200_000;
const COMPRESSED = new Set(['.html', '.js', '.css', '.svg', '.map', '.json']);

const sources = sourcesOf(here);
if (existsSync(join(dist, 'index.html')) && existsSync(stamp) && readFileSync(stamp, 'utf8') === sources)
  process.exit(0);

const { build } = await import('vite');
// Two builds at once must not write into each other's folder, and a gateway that serves the old files keeps them until the swap.
const fresh = join(here, 'out-tsc', `dist-${process.pid}`);
await build({ root: here, logLevel: 'warn', build: { outDir: fresh, manifest: true } });
const manifest = JSON.parse(readFileSync(join(fresh, '.vite', 'manifest.json'), 'utf8'));
rmSync(join(fresh, '.vite'), { recursive: true });

const sizes = new Map(filesIn(fresh).map((file) => [file, compress(join(fresh, file))]));
const first = firstLoad();
const size = `first load ${(first / 1000).toFixed(1)} kB compressed`;
if (first > FIRST_LOAD_LIMIT) {
  rmSync(fresh, { recursive: true });
  process.stderr.write(`Dashboard not built: ${size}, more than ${FIRST_LOAD_LIMIT / 1000} kB\n`);
  process.exit(1);
}
writeFileSync(join(fresh, '.sources'), sources);
swap();
process.stderr.write(`Dashboard built: ${size}, ${sizes.size} files\n`);

function filesIn(folder) {
  return readdirSync(folder, { recursive: true }).filter((file) => statSync(join(folder, file)).isFile());
}

/** One hash over everything that the built files come from. */
function sourcesOf(folder) {
  const src = filesIn(join(folder, 'src'))
    .filter((file) => !/\.(int-)?spec\.ts$/.test(file) && !file.startsWith('testing'))
    .map((file) => join('src', file));
  const hash = createHash('sha256');
  const others = ['index.html', 'vite.config.mts', 'tsconfig.json', 'tsconfig.lib.json', 'build.mjs'];
  for (const file of [...src, ...others, '../../package-lock.json'].sort())
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(folder, file)))
      .update('\0');
  return hash.digest('hex');
}

/** @returns bytes of the smaller form */
function compress(file) {
  const bytes = readFileSync(file);
  if (!COMPRESSED.has(extname(file))) return bytes.length;
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  writeFileSync(`${file}.br`, brotli);
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  return brotli.length;
}

/** index.html, what it names, and the page that `/` shows. */
function firstLoad() {
  const wanted = new Set(['index.html']);
  const take = (key) => {
    const chunk = manifest[key];
    if (chunk === undefined || wanted.has(chunk.file)) return;
    wanted.add(chunk.file);
    for (const css of chunk.css ?? []) wanted.add(css);
    for (const imported of chunk.imports ?? []) take(imported);
  };
  take('index.html');
  take('src/pages/overview/overview-page.tsx');
  return [...wanted].reduce((total, file) => total + (sizes.get(file) ?? 0), 0);
}

function swap() {
  const old = join(here, 'out-tsc', `old-${process.pid}`);
  try {
    if (existsSync(dist)) renameSync(dist, old);
    renameSync(fresh, dist);
  } catch (error) {
    // Another build was faster; what it left is as new.
    if (!existsSync(join(dist, 'index.html'))) throw error;
    rmSync(fresh, { recursive: true, force: true });
  }
  rmSync(old, { recursive: true, force: true });
}
