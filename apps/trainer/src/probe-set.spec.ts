import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProbeSet } from './probe-set';
import { SEED_MODEL } from './testing/fixtures';

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

describe('where drift is bounded, and no prompt could be asked', () => {
  const given = (options: { maxPromptTokens: number; limit: number }) => {
    const file = join(folder, 'questions.json');
    writeFileSync(file, '["What is rain?"]');
    return ProbeSet.open({ modelDir: SEED_MODEL, policyDir: folder, file, ...options });
  };

  it.each([
    { maxPromptTokens: 0, message: /PROBE_MAX_TOKENS/ },
    { maxPromptTokens: 1, message: /questions\.json: none of its prompts .* PROBE_MAX_TOKENS/ },
  ])('the trainer does not start with a bound that says nothing ($maxPromptTokens tokens)', async (row) => {
    const { maxPromptTokens, message } = row;
    await expect(given({ maxPromptTokens, limit: 2 })).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringMatching(message) as string,
    });
  });
  it('is nothing to refuse without a bound', async () =>
    expect((await given({ maxPromptTokens: 0, limit: 0 })).all()).toEqual([]));
});
