import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(__dirname, '..');

it.each([
  { what: 'an empty file', text: '', says: 'holds no object at all' },
  { what: 'comments alone', text: '# nothing\n---\n# more\n', says: 'holds no object at all' },
  { what: 'plain text', text: 'error: no such overlay', says: 'apiVersion, kind and a name are missing' },
  { what: 'an object without a name', text: 'apiVersion: v1\nkind: Service\n', says: 'a name are missing' },
])('npm run check:k8s passes no file that holds $what', ({ text, says }) => {
  const folder = mkdtempSync(join(tmpdir(), 'hindcast-check-'));
  const file = join(folder, 'production.yaml');
  writeFileSync(file, text);
  const { status, stdout } = spawnSync(process.execPath, ['tools/check-k8s/main.mjs', file], {
    cwd: root,
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  expect([status, stdout]).toEqual([1, expect.stringContaining(says)]);
});
