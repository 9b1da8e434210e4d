// Where libtensorflow comes from. Each source leaves deps/lib/libtensorflow_cc.so.2 (or libtensorflow.so.2) and
// libtensorflow_framework.so.2 in the build folder, under the names that the binding links.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { firstThatRuns, run, Unavailable } from './command.mjs';
import { download, findPip, unzip, verified } from './wheels.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const artifacts = JSON.parse(readFileSync(join(here, 'artifacts.json'), 'utf8'));
/** Declarations of the C interface for a library that comes without headers. */
const OWN_HEADERS = join(here, 'include');

/** @returns {{ source: string, sha256: string | null, includeDir: string }} */
export async function fetchLibtensorflow(options, folder, progress) {
  if (process.platform !== 'linux' && (options.from === 'wheel' || options.from === 'maven')) {
    throw new Unavailable(`--from ${options.from} is written for Linux; on ${process.platform} give a folder`);
  }
  if (options.from === 'wheel') return await fromWheel(options, folder, progress);
  if (options.from === 'maven') return await fromMaven(options, folder, progress);
  return fromFolder(resolve(options.from), folder, progress);
}

/** TensorFlow's wheel carries the C library, its headers, and, for a GPU, names the wheels of NVIDIA's libraries. */
async function fromWheel(options, folder, progress) {
  const usesLocalCuda = options.package === 'tfjs-node-gpu' && options.cuda === '11.8';
  const pinned = artifacts.wheel[usesLocalCuda ? 'tfjs-node-gpu-cuda-11.8' : options.package];
  const python = findPip('--from wheel needs Python with pip; without it use --from maven, or a folder');
  const requirement = options.release ?? pinned.requirement;
  const [wheel] = await download(python, [requirement], join(folder, 'wheel'));
  const sha256 = await verified(wheel, options.release ? undefined : pinned.sha256[process.arch]);
  progress.unpacking();
  const unpacked = join(folder, 'unpacked');
  await unzip(wheel, unpacked, ['tensorflow/libtensorflow*', 'tensorflow/include/*', '*.dist-info/METADATA']);
  if (options.package === 'tfjs-node-gpu' && !usesLocalCuda) await addNvidiaLibraries(python, folder, unpacked);
  arrange(join(unpacked, 'tensorflow'), folder);
  const includeDir = join(unpacked, 'tensorflow/include');
  return { source: requirement, sha256, includeDir };
}

/** The wheel looks for NVIDIA's libraries in ../nvidia, beside its own folder. */
async function addNvidiaLibraries(python, folder, unpacked) {
  const [info] = readdirSync(unpacked).filter((name) => name.endsWith('.dist-info'));
  const metadata = readFileSync(join(unpacked, info, 'METADATA'), 'utf8');
  const wanted = [...metadata.matchAll(/^Requires-Dist: (nvidia-[^;]+?)\s*;.*and-cuda/gm)].map(([, what]) =>
    what.replace(/[()\s]/g, ''),
  );
  for (const wheel of await download(python, wanted, join(folder, 'nvidia-wheels'))) {
    await unzip(wheel, join(folder, 'deps'), ['nvidia/*']);
  }
}

/** TensorFlow's Java natives carry the C library without headers. */
async function fromMaven(options, folder, progress) {
  const pinned = artifacts.maven[options.package];
  const classifier = `linux-${process.arch === 'arm64' ? 'arm64' : 'x86_64'}${pinned.suffix ?? ''}`;
  firstThatRuns([['mvn', '--version']], '--from maven needs mvn');
  const artifact = `${options.release ?? pinned.artifact}:${classifier}`;
  const to = join(folder, 'jar');
  await run('mvn', ['-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${to}`], {
    whatFailed: `mvn could not download ${artifact}:`,
  });
  const [jar] = readdirSync(to).map((name) => join(to, name));
  const sha256 = await verified(jar, options.release ? undefined : pinned.sha256[process.arch]);
  progress.unpacking();
  const unpacked = join(folder, 'unpacked');
  await unzip(jar, unpacked, ['org/tensorflow/internal/c_api/*/lib*.so*']);
  const natives = join(unpacked, 'org/tensorflow/internal/c_api');
  arrange(join(natives, readdirSync(natives)[0]), folder);
  return { source: artifact, sha256, includeDir: OWN_HEADERS };
}

function fromFolder(from, folder, progress) {
  const lib = existsSync(join(from, 'lib')) ? join(from, 'lib') : from;
  if (!existsSync(lib)) throw new Unavailable(`${from} is not a folder`);
  progress.unpacking();
  const copy = join(folder, 'unpacked');
  const isWanted = (path) => path === lib || basename(path).startsWith('libtensorflow');
  cpSync(lib, copy, { recursive: true, verbatimSymlinks: true, filter: isWanted });
  arrange(copy, folder);
  const include = join(from, 'include');
  const hasHeaders = existsSync(join(include, 'tensorflow/c/eager/c_api.h'));
  return { source: from, sha256: null, includeDir: hasHeaders ? include : OWN_HEADERS };
}

/** Puts the two libraries where the binding's run path finds them, with the names that the linker is asked for. */
function arrange(from, folder) {
  const lib = join(folder, 'deps/lib');
  mkdirSync(lib, { recursive: true });
  const names = readdirSync(from).filter((name) => /^libtensorflow.*\.so(\.\d+)*$/.test(name));
  for (const name of names) renameSync(join(from, name), join(lib, name));
  const link = (linked, candidates) => {
    const found = candidates.find((name) => names.includes(name));
    if (found === undefined) throw new Unavailable(`${candidates[0]} is not among ${names.join(', ') || 'nothing'}`);
    if (!names.includes(linked)) symlinkSync(found, join(lib, linked));
  };
  link('libtensorflow.so', ['libtensorflow_cc.so.2', 'libtensorflow.so.2', 'libtensorflow.so']);
  link('libtensorflow_framework.so', ['libtensorflow_framework.so.2', 'libtensorflow_framework.so']);
}
