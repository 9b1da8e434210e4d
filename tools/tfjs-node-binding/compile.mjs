import { cpSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { firstThatRuns, run, Unavailable } from './command.mjs';

const require = createRequire(import.meta.url);
// The package's own choice, package.json `binary.napi_versions`.
const NAPI_VERSION = Math.min(8, Number(process.versions.napi));

/** Compiles the package's own sources in `folder`, which has deps/lib, and takes away what only the build needs. */
export async function compile(packageName, folder, includeDir, nodedir = findNodeHeaders()) {
  firstThatRuns(
    [
      ['g++', '--version'],
      ['c++', '--version'],
      ['clang++', '--version'],
    ],
    'needs a C++ compiler (g++)',
  );
  const from = dirname(require.resolve(`@tensorflow/${packageName}/package.json`));
  for (const name of ['binding', 'binding.gyp', 'package.json'])
    cpSync(join(from, name), join(folder, name), { recursive: true });
  const include = join(folder, 'deps/include');
  symlinkSync(includeDir, include);
  const modulePath = join(folder, modulePathOf(folder));
  await run(
    process.execPath,
    [
      nodeGyp(),
      'rebuild',
      `--nodedir=${nodedir}`,
      '--module_name=tfjs_binding',
      `--module_path=${modulePath}`,
      `--napi_version=${process.versions.napi}`,
      `--napi_build_version=${NAPI_VERSION}`,
    ],
    { cwd: folder, whatFailed: 'the binding could not be compiled:' },
  );
  for (const name of ['build', 'binding', 'binding.gyp', 'deps/include', 'unpacked', 'wheel', 'nvidia-wheels', 'jar']) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Loads the binding in a process of its own. @returns TensorFlow's version */
export async function tryOut(packageName, folder) {
  const binding = join(folder, modulePathOf(folder), 'tfjs_binding.node');
  const script = `process.stdout.write(require(${JSON.stringify(binding)}).TF_Version)`;
  return await run(process.execPath, ['-e', script], {
    whatFailed: `the compiled binding of ${packageName} does not load:`,
    env: { ...process.env, TF_CPP_MIN_LOG_LEVEL: '2' },
  });
}

function modulePathOf(folder) {
  const { binary } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return binary.module_path.replace('{napi_build_version}', String(NAPI_VERSION));
}

/** Folder whose include/node holds the headers of this Node, or of one with the same interface: N-API is stable. */
function findNodeHeaders() {
  const candidates = [
    process.env.npm_config_nodedir,
    process.config.variables.nodedir,
    dirname(dirname(process.execPath)),
    process.config.variables.node_prefix,
    '/usr',
    '/usr/local',
  ];
  const found = candidates.find((folder) => folder && existsSync(join(folder, 'include/node/node_api.h')));
  if (found === undefined) {
    throw new Unavailable(
      "Node's headers are not here (include/node/node_api.h beside the node binary, or in /usr); give their folder with\n" +
        '--nodedir. They are part of every Node archive; Debian has them in nodejs or libnode-dev.',
    );
  }
  return found;
}

/** npm brings node-gyp. */
function nodeGyp() {
  const npm = process.env.npm_execpath;
  const candidates = [
    process.env.npm_config_node_gyp,
    npm && join(dirname(npm), '../node_modules/node-gyp/bin/node-gyp.js'),
    join(dirname(process.execPath), '../lib/node_modules/npm/node_modules/node-gyp/bin/node-gyp.js'),
    '/usr/lib/node_modules/npm/node_modules/node-gyp/bin/node-gyp.js',
    '/usr/share/nodejs/npm/node_modules/node-gyp/bin/node-gyp.js',
    '/usr/share/nodejs/node-gyp/bin/node-gyp.js',
  ];
  const found = candidates.find((path) => path && existsSync(path));
  if (found === undefined) throw new Unavailable('node-gyp, which comes with npm, is not here; run it through npm');
  return found;
}
