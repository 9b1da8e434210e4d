import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** What a model directory has beside its weights and config.json, and an engine needs to serve it; and what it must be passed on with. */
const COMPANIONS: readonly RegExp[] = [
  /^generation_config\.json$/,
  /^tokenizer(_config)?\.json$/,
  /^tokenizer\.model$/,
  /^(vocab|added_tokens|special_tokens_map|chat_template)\.json$/,
  /^merges\.txt$/,
  /^.*\.jinja$/,
  /^(LICENSE|NOTICE|USE_POLICY)(\..*)?$/i,
];

/** Copies tokenizer, chat template, generation defaults and licence of a model directory; the names of what was there. */
export async function copyCompanionFiles(from: string, to: string): Promise<string[]> {
  const entries = await readdir(from, { withFileTypes: true });
  const names = entries
    .filter((entry) => !entry.isDirectory() && COMPANIONS.some((pattern) => pattern.test(entry.name)))
    .map(({ name }) => name);
  for (const name of names) await copyFile(join(from, name), join(to, name));
  return names;
}
