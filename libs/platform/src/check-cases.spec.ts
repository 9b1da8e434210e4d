import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const script = resolve(__dirname, '../../../tools/check-cases.mjs');

const row = (number: number, file = 'apps/a/src/plain.spec.ts'): string =>
  `| D${number} | [x/y#1](https://example.org) | It broke. | It does not. | [${file}](../${file}) |`;
const plain = Array.from({ length: 50 }, (_, index) => index + 1);

/** A small tree in which every case has a test. */
const agreeing: Readonly<Record<string, string>> = {
  'docs/cases.md': [
    '| case | met in | fault | what Hindcast does | shown by |',
    '| ---- | ------ | ----- | ------------------ | -------- |',
    ...plain.map((number) => row(number)),
    row(51, 'apps/a/src/table.int-spec.ts'),
    row(52, 'apps/a/src/table.int-spec.ts'),
    row(53, 'libs/b/src/described.spec.ts'),
    row(54, 'e2e/whole.e2e-spec.ts'),
    row(55, 'e2e/whole.e2e-spec.ts'),
    row(83, 'e2e/whole.e2e-spec.ts'),
  ].join('\n'),
  'apps/a/src/plain.spec.ts': plain.map((number) => `it('D${number} holds', () => undefined);`).join('\n'),
  'apps/a/src/table.int-spec.ts': `
const rows = [{ why: 'D51 early', other: 'D56 is no title' }];
it.each(rows)('$why: refused', () => say('D57 is no title'));
it.each(['D52 late', 'never'])('%s: refused', () => undefined);
`,
  'libs/b/src/described.spec.ts': 'describe.each([1])("D53 of %i", () => { it("holds", () => undefined); });',
  'e2e/whole.e2e-spec.ts': 'test(`D54, D55 of ${name} and D83`, () => undefined);',
  'apps/a/src/plain.ts': "it('D58 is no test');",
  'apps/a/node_modules/x/x.spec.ts': "it('D59 is not ours', () => undefined);",
};

function problemsOf(files: Readonly<Record<string, string>>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'hindcast-cases-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const { status, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' });
    const problems = stderr.split('\n').filter((line) => line !== '');
    expect(status).toBe(problems.length > 0 ? 1 : 0);
    return problems;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('tools/check-cases.mjs', () => {
  it('says nothing when every case has its test', () => expect(problemsOf(agreeing)).toEqual([]));

  it.each<{ why: string; file: string; from: string; to: string; says: string }>([
    {
      why: 'a case whose test lost its number',
      file: 'apps/a/src/plain.spec.ts',
      from: "it('D7 holds'",
      to: "it('it holds'",
      says: "no test's title has the number of row D7",
    },
    {
      why: 'a number that is no word',
      file: 'apps/a/src/plain.spec.ts',
      from: "it('D7 holds'",
      to: "it('XD7 holds'",
      says: "no test's title has the number of row D7",
    },
    {
      why: 'a row of a table that lost its number',
      file: 'apps/a/src/table.int-spec.ts',
      from: 'D51 early',
      to: 'early',
      says: 'apps/a/src/table.int-spec.ts has no test for row D51',
    },
    {
      why: 'an entry of a list that lost its number',
      file: 'apps/a/src/table.int-spec.ts',
      from: 'D52 late',
      to: 'late',
      says: 'apps/a/src/table.int-spec.ts has no test for row D52',
    },
    {
      why: 'a file that does not hold the test',
      file: 'docs/cases.md',
      from: row(9),
      to: row(9, 'e2e/whole.e2e-spec.ts'),
      says: 'e2e/whole.e2e-spec.ts has no test for row D9',
    },
    {
      why: 'a file that is not there',
      file: 'docs/cases.md',
      from: row(9),
      to: row(9, 'e2e/gone.spec.ts'),
      says: 'e2e/gone.spec.ts has no test for row D9',
    },
    { why: 'a row that is missing', file: 'docs/cases.md', from: row(9), to: '', says: 'docs/cases.md has no row D9' },
    {
      why: 'a row that is there twice',
      file: 'docs/cases.md',
      from: row(9),
      to: `${row(9)}\n${row(9)}`,
      says: 'the row D9 twice',
    },
    {
      why: 'an empty cell',
      file: 'docs/cases.md',
      from: row(9),
      to: row(9).replace('It broke.', ''),
      says: 'a cell of row D9 is empty',
    },
    {
      why: 'a row without a file',
      file: 'docs/cases.md',
      from: row(9),
      to: row(9).replace(/\[apps.*\)/, 'a test'),
      says: 'row D9 names no test file',
    },
    {
      why: 'a case that does not exist',
      file: 'docs/cases.md',
      from: '| D83 |',
      to: '| D84 |',
      says: 'a row D84, and there is no such case',
    },
    {
      why: 'a number without a row',
      file: 'libs/b/src/described.spec.ts',
      from: '"holds"',
      to: '"D60 holds"',
      says: 'libs/b/src/described.spec.ts: D60 is in a title and has no row',
    },
  ])('finds $why', ({ file, from, to, says }) => {
    const changed = agreeing[file]!.replace(from, to);
    expect(changed).not.toBe(agreeing[file]);
    expect(problemsOf({ ...agreeing, [file]: changed }).join('\n')).toContain(says);
  });
});
