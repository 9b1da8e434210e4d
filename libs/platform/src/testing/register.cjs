// `node -r <this file> worker.ts`: runs TypeScript sources as the tests do, for tests that need a process of their own to kill.
const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { transformSync } = require('@swc/core');

const root = path.resolve(__dirname, '../../../..');
const { transform } = require(path.join(root, 'jest.preset.cjs'));
const [, options] = Object.values(transform)[0];

const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
  const lib = /^@hindcast\/([^/]+)(?:\/([^/]+))?$/.exec(request);
  return resolve.call(this, lib ? path.join(root, 'libs', lib[1], 'src', `${lib[2] ?? 'index'}.ts`) : request, ...rest);
};
Module._extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(fs.readFileSync(filename, 'utf8'), { ...options, filename, sourceMaps: 'inline' });
  module._compile(code, filename);
};
