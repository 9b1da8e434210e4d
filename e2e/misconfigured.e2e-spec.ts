import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(__dirname, '..');
const apps = ['gateway', 'judge-svc', 'teacher-svc', 'dispatcher', 'trainer', 'engine', 'demo-judge'];

it.each(apps)('%s names all mistakes of its configuration in plain words and ends with 2', (app) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'tools/service.mjs'), app], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], PORT: '70000', LOG_LEVEL: 'loud', NATS_URL: 'not a url' },
  });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  const [title, ...mistakes] = stderr.trimEnd().split('\n');
  expect(title).toBe(`${app} cannot start, its configuration has mistakes:`);
  expect(mistakes.map((line) => /^ {2}(\w+): /.exec(line)?.[1])).toEqual(['PORT', 'NATS_URL', 'LOG_LEVEL']);
});

it('refuses to serve others without keys', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'tools/service.mjs'), 'gateway'], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOST: '0.0.0.0' },
  });
  expect(status).toBe(2);
  expect(stderr).toContain(
    'HOST: without API_KEYS, ADMIN_API_KEYS or API_KEYS_FILE only a loopback address is served, not 0.0.0.0',
  );
});
