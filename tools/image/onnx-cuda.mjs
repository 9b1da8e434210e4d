// `npm run image -- onnx-cuda`: onnxruntime's provider for NVIDIA's GPUs, and NVIDIA's libraries that it loads, out of Python's wheels.
// onnxruntime-node's own package is too small for them; it finds them beside its library, and the libraries in LD_LIBRARY_PATH.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Unavailable } from '../tfjs-node-binding/command.mjs';
import { download, findPip, unzip, verified } from '../tfjs-node-binding/wheels.mjs';
import { readJson } from './prune.mjs';

const LIST = join(dirname(fileURLToPath(import.meta.url)), 'onnx-cuda.json');

/**
 * The provider has to be of the very release of onnxruntime-node.
 *
 * @param {string} root the checkout
 * @returns {object} the pinned wheels
 * @throws Error when the lock file holds another release
 */
export function pinnedWheels(root) {
  const pinned = readJson(LIST);
  const provider = pinned.wheels.find((wheel) => wheel.provider !== undefined).requirement;
  const { version } = readJson(join(root, 'package-lock.json')).packages['node_modules/onnxruntime-node'];
  if (provider !== `onnxruntime-gpu==${version}`)
    throw new Error(`onnxruntime-node is ${version}, tools/image/onnx-cuda.json has ${provider}`);
  return pinned;
}

/**
 * Leaves `out/provider`, which belongs beside libonnxruntime.so.1, `out/lib` for LD_LIBRARY_PATH, and `out/licenses`.
 *
 * @throws Unavailable without pip, without its registry, or on another machine than Linux x64
 */
export async function fetchOnnxCuda(root, out, say) {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Unavailable('the CUDA provider is for Linux x64');
  const pinned = pinnedWheels(root);
  if (existsSync(out) && readdirSync(out).length > 0) throw new Error(`${out} is not empty`);
  const python = findPip('onnx-cuda needs Python with pip, which downloads the libraries');
  for (const folder of ['provider', 'lib', 'licenses']) mkdirSync(join(out, folder), { recursive: true });
  for (const [i, wheel] of pinned.wheels.entries()) {
    say(`[${i + 1}/${pinned.wheels.length}] ${wheel.requirement}`);
    const folder = mkdtempSync(join(out, '.wheel-'));
    try {
      const [archive] = await download(python, [wheel.requirement], join(folder, 'wheel'));
      await verified(archive, wheel.sha256);
      const unpacked = join(folder, 'unpacked');
      await unzip(archive, unpacked, ['*']);
      rmSync(archive);
      take(unpacked, wheel.provider ?? [], join(out, 'provider'));
      take(unpacked, wheel.libraries ?? [], join(out, 'lib'));
      takeLicenses(unpacked, join(out, 'licenses'), wheel.requirement.split('==')[0]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  for (const [link, target] of Object.entries(pinned.links)) symlinkSync(target, join(out, 'lib', link));
}

function take(unpacked, names, to) {
  const files = filesOf(unpacked);
  for (const name of names) {
    const found = files.find((path) => basename(path) === name);
    if (found === undefined) throw new Error(`${name} is not in the wheel`);
    renameSync(found, join(to, name));
  }
}

function takeLicenses(unpacked, to, wheel) {
  for (const path of filesOf(unpacked).filter((file) => /^(licen[cs]e|thirdpartynotices)/i.test(basename(file))))
    renameSync(path, join(to, `${wheel}-${basename(path)}`));
}

const filesOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
