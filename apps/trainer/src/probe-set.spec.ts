import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProbeSet } from './probe-set';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'hindcast-probe-set-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const open = (file: string | undefined): Promise<ProbeSet> =>
  ProbeSet.open({ modelDir: folder, policyDir: folder, file, maxPromptTokens: 8, limit: 2 });

it('is empty where nothing was collected yet', async () => expect((await open(undefined)).all()).toEqual([]));

it.each(['{"v', '{}'])('names the file that holds %j', async (text) => {
  const collected = join(folder, 'probe-prompts.json');
  writeFileSync(collected, text);
  await expect(open(undefined)).rejects.toThrow(`${collected} is damaged`);
  const given = join(folder, 'given.json');
  writeFileSync(given, text);
  await expect(open(given)).rejects.toMatchObject({
    code: 'config-invalid',
    message: expect.stringContaining(given) as string,
  });
});

it('takes a file that is not there for a mistake in the configuration', () =>
  expect(open(join(folder, 'none.json'))).rejects.toMatchObject({ code: 'config-invalid' }));
