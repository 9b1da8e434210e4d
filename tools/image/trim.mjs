// What of an installed package is not needed at run time.
import { extname } from 'node:path';
import process from 'node:process';

/** Packages of which only the files that are loaded are kept: most of each is bundles for browsers and other databases. */
export const TRACED = new Set([
  '@prisma/client',
  '@tensorflow/tfjs',
  '@tensorflow/tfjs-backend-cpu',
  '@tensorflow/tfjs-backend-wasm',
  '@tensorflow/tfjs-backend-webgl',
  '@tensorflow/tfjs-converter',
  '@tensorflow/tfjs-core',
  '@tensorflow/tfjs-data',
  '@tensorflow/tfjs-layers',
  '@tensorflow/tfjs-node-gpu',
  'core-js',
  'lodash',
  'openai',
  'rxjs',
]);

/** Files of a traced package that are read as data. */
export const READ_AS_DATA = { '@tensorflow/tfjs-backend-wasm': [/^dist\/.*\.wasm$/] };

/**
 * Dependencies that no code of the image reaches, and why.
 * @type {Readonly<Record<string, Readonly<Record<string, string>>>>}
 */
export const UNREACHED = {
  'onnxruntime-node': {
    'adm-zip': 'its install script unpacks with it',
    'global-agent': 'its install script downloads with it',
  },
  '@tensorflow/tfjs': { argparse: 'its build tool', chalk: 'its build tool', yargs: 'its build tool' },
  '@tensorflow/tfjs-node-gpu': {
    '@mapbox/node-pre-gyp': 'its own entry looks for the module with it; the trainer looks itself',
    'adm-zip': 'its install script unpacks with it',
    'https-proxy-agent': 'its install script downloads with it',
    progress: 'its install script shows progress with it',
    rimraf: 'its install script clears folders with it',
    tar: 'its install script unpacks with it',
  },
  '@prisma/adapter-pg': { '@types/pg': 'declarations' },
};

const DEAD_EXTENSIONS = new Set([
  '.map',
  '.ts',
  '.mts',
  '.cts',
  '.tsbuildinfo',
  '.flow',
  '.md',
  '.markdown',
  '.html',
  '.yml',
  '.yaml',
]);
/** Folders at the root of a package. */
const DEAD_FOLDERS = new Set([
  'test',
  'tests',
  '__tests__',
  'example',
  'examples',
  'benchmark',
  'benchmarks',
  'bench',
  'docs',
  '.github',
]);
const LEGAL = /^(licen[cs]e|copying|notice|third.?party|copyright)/i;

/**
 * Whether a file of a package belongs in an image.
 *
 * @param {string} name of the package
 * @param {string} path inside the package, with slashes
 */
export function isKept(name, path, platform = process.platform, arch = process.arch) {
  const parts = path.split('/');
  const base = parts.at(-1);
  if (LEGAL.test(base) && extname(base) !== '.js') return true;
  if (parts.length > 1 && DEAD_FOLDERS.has(parts[0])) return false;
  if (DEAD_EXTENSIONS.has(extname(base))) return false;
  if (name === 'onnxruntime-node') {
    // bin/napi-v6/linux/x64/…: one folder for each system.
    if (parts[0] === 'bin') return parts[2] === platform && parts[3] === arch;
    return parts[0] !== 'script' && parts[0] !== 'lib';
  }
  return true;
}
