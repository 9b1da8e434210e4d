import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(__dirname, '..');

it('npm test ends with the names of all that failed, in tests, in loading and in cleaning up', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hindcast-summary-'));
  const outputFile = join(folder, 'result.json');
  writeFileSync(join(folder, 'jest.config.json'), '{ "transform": {} }');
  writeFileSync(
    join(folder, 'one.test.js'),
    "describe('one', () => { it('passes', () => {}); it('fails', () => { throw new Error('no'); }); });",
  );
  writeFileSync(join(folder, 'unloaded.test.js'), "throw new Error('not loaded');");
  writeFileSync(join(folder, 'left.test.js'), "afterAll(() => { throw new Error('no'); }); it('passes', () => {});");
  const jest = ['node_modules/jest/bin/jest.js', '--rootDir', folder, '--json', `--outputFile=${outputFile}`];
  spawnSync(process.execPath, [...jest, '--config', join(folder, 'jest.config.json')], { cwd: root });
  const { testResults } = JSON.parse(readFileSync(outputFile, 'utf8')) as { testResults: { name: string }[] };
  testResults.sort((a, b) => (a.name < b.name ? -1 : 1));
  writeFileSync(outputFile, JSON.stringify({ testResults }));

  const script = `
    import { readFileSync } from 'node:fs';
    import { failuresOf, summaryOf } from './tools/test-summary.mjs';
    const failures = failuresOf(JSON.parse(readFileSync(${JSON.stringify(outputFile)}, 'utf8')), ${JSON.stringify(folder)});
    process.stdout.write(summaryOf([{ passed: 2, failures }, { passed: 3, failures: ['jest of e2e, which left no result'] }]).text);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  expect([stdout, stderr]).toEqual([
    [
      'failed: left.test.js',
      'failed: one.test.js › one fails',
      'failed: unloaded.test.js',
      'failed: jest of e2e, which left no result',
      '5 passed, 4 failed',
      '',
    ].join('\n'),
    '',
  ]);
});
