// A process that opens the embedded server of a folder and holds it until it is killed: `node hold-server.cjs DATA_DIR`.
const { readFileSync } = require('node:fs');
const path = require('node:path');
const { transformSync } = require('@swc/core');

require.extensions['.ts'] = (module, file) => {
  const options = {
    filename: file,
    module: { type: 'commonjs' },
    jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
  };
  module._compile(transformSync(readFileSync(file, 'utf8'), options).code, file);
};
const { EmbeddedPostgres } = require(path.join(__dirname, '../embedded-postgres.ts'));

const server = new EmbeddedPostgres(process.argv[2], () => {});
server.open().then((url) => process.stdout.write(`${url}\n`));
