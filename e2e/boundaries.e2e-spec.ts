import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(__dirname, '..');

/** Rules that ESLint reports for a source text as if it stood at that path. */
function rulesBroken(path: string, text: string): string[] {
  const eslint = join(root, 'node_modules/eslint/bin/eslint.js');
  const { stdout } = spawnSync(process.execPath, [eslint, '--stdin', '--stdin-filename', path, '--format', 'json'], {
    cwd: root,
    input: text,
    encoding: 'utf8',
  });
  const [file] = JSON.parse(stdout.slice(stdout.indexOf('['))) as { messages: { ruleId: string }[] }[];
  return [...new Set(file!.messages.map(({ ruleId }) => ruleId))];
}

describe('lint refuses what would blur the boundaries', () => {
  const core = 'apps/gateway/src/core/example.ts';
  it.each([
    {
      what: 'Nest in a core file',
      path: core,
      text: "import { Injectable } from '@nestjs/common';\nexport { Injectable };",
      rule: 'no-restricted-imports',
    },
    {
      what: 'a Node built-in in a core file',
      path: core,
      text: "import { readFileSync } from 'node:fs';\nexport { readFileSync };",
      rule: 'no-restricted-imports',
    },
    {
      what: 'the clock in a core file',
      path: core,
      text: 'export const now = (): number => Date.now();',
      rule: 'no-restricted-properties',
    },
    {
      what: 'randomness in a core file',
      path: core,
      text: 'export const x = (): number => Math.random();',
      rule: 'no-restricted-properties',
    },
    {
      what: 'the environment in a core file',
      path: core,
      text: 'export const env = process.env;',
      rule: 'no-restricted-globals',
    },
    {
      what: 'the environment outside config.ts',
      path: 'apps/gateway/src/chat.ts',
      text: "export const env = process.env['X'];",
      rule: 'no-restricted-properties',
    },
    {
      what: 'NATS in the contracts',
      path: 'libs/contracts/src/example.ts',
      text: "import { connect } from '@nats-io/transport-node';\nexport { connect };",
      rule: 'no-restricted-imports',
    },
  ])('$what', ({ path, text, rule }) => {
    expect(rulesBroken(path, text)).toContain(rule);
  });
  it('lets an honest core file pass', () => {
    expect(rulesBroken(core, 'export const twice = (x: number): number => 2 * x;\n')).toEqual([]);
  });
});
