import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runOtherProgram, type OtherProgram } from './other-programs';
import { REGISTER, hindcast } from './testing/command';

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'hindcast-cli-'))));
afterAll(() => rmSync(folder, { recursive: true }));

function program(source: string): { program: OtherProgram; launch: () => string[] } {
  const file = join(folder, 'program.js');
  writeFileSync(file, source);
  return { program: { name: 'it', entry: '', words: ['it'], description: '' }, launch: () => [file] };
}
const PATH = { PATH: process.env['PATH'] };

it('hands on arguments and exit code, and says by whom it was started', async () => {
  const { program: it, launch } = program(
    `const [word, ...args] = process.argv.slice(2);
     process.exit(word === 'it' && args.join() === '--a,b' && process.argv0 === 'hindcast' ? 42 : 1);`,
  );
  expect(await runOtherProgram(it, ['--a', 'b'], PATH, launch)).toBe(42);
});

it('the code of a program that a signal ended is 128 and the signal’s number', async () => {
  const { program: it, launch } = program(`process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000);`);
  expect(await runOtherProgram(it, [], PATH, launch)).toBe(128 + 9);
});

it('hands a signal on, and waits for the orderly end', async () => {
  const { launch } = program(
    `process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000); console.log('up');`,
  );
  const main = join(folder, 'main.ts');
  writeFileSync(
    main,
    `import { runOtherProgram } from ${JSON.stringify(join(__dirname, 'other-programs'))};
     void runOtherProgram({ name: 'it', entry: '', words: [], description: '' }, [], process.env, () => ${JSON.stringify(launch())}).then((code) => process.exit(code));`,
  );
  const child = spawn(process.execPath, ['-r', REGISTER, main], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([7, null]);
});

// One of each program.
it.each(['replay', 'policy', 'simulate'])('the help of %s is its own, under the name that was typed', async (name) => {
  const { code, printed, said } = await hindcast([name, '--help']);
  expect({ code, said }).toEqual({ code: 0, said: '' });
  expect(printed).toMatch(new RegExp(`^Usage: hindcast ${name}\\b`));
});

it('misuse of another program is 2', async () => {
  expect(await hindcast(['replay', '--nonsense'])).toMatchObject({ code: 2 });
  expect(await hindcast(['simulate', '--sessions', 'x'])).toMatchObject({ code: 2 });
});
