import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ChatTemplate, readJson, textEncoder, type TextEncoder } from '@hindcast/language-model/text';
import { PROBE_MESSAGES, type EngineLook } from './engine';
import { fault, skipped, type Finding } from './core/finding';
import { promptFinding, templateFinding, vocabularyFinding, VOCABULARY_PROBES } from './core/tokenizer-findings';
import { call, rootOf, type Server } from './http';
import { folderOf, type Settings } from './settings';

/** Where the ids of a text come from: a folder, or a server. */
type Encode = (text: string) => Promise<readonly number[] | null>;

/** A tokenizer in a Hugging Face folder. */
interface LocalTokenizer {
  readonly encode: (text: string) => number[];
  readonly promptIds: () => number[];
}

/**
 * Whether the engine's ids mean what those of the folders mean: MODEL_DIR, which the trainer computes with, and POLICY_TOKENIZER_DIR, by
 * which the gateway finds ids; and whether the engine makes the same prompt of a conversation twice, as the teacher needs.
 */
export async function checkTokenizers(look: EngineLook, { gateway, trainer }: Settings): Promise<Finding[]> {
  const { server, name, answer } = look;
  const engine = engineEncoder(server, gateway.POLICY_MODEL);
  const findings: Finding[] = [];
  for (const [variable, folder] of foldersOf(gateway, trainer)) {
    const check = `${name}: tokenizer`;
    const local = await localTokenizer(folder).catch((error: Error) => error.message);
    if (typeof local === 'string') {
      findings.push(
        fault(
          check,
          `${variable} (${folder}): ${local}`,
          `Set ${variable} to a folder with the tokenizer.json and tokenizer_config.json of the served model.`,
        ),
      );
      continue;
    }
    const difference = await firstDifference(engine, (text) => Promise.resolve(local.encode(text)));
    findings.push(vocabularyFinding(check, `${variable} (${folder})`, variable, difference));
    if (answer && typeof difference !== 'string')
      findings.push(templateFinding(`${name}: chat template`, variable, answer, local.promptIds()));
  }
  if (answer?.promptIds && gateway.POLICY_DIALECT !== 'openai')
    findings.push(
      promptFinding(
        `${name}: /tokenize`,
        answer.promptIds,
        await engineTokens(server, {
          model: gateway.POLICY_MODEL,
          messages: PROBE_MESSAGES,
          add_generation_prompt: true,
        }),
      ),
    );
  return findings.length > 0 ? findings : [skipped(`${name}: tokenizer`, 'no folder to compare it with')];
}

function foldersOf(gateway: Settings['gateway'], trainer: Settings['trainer']): [string, string][] {
  const folders: [string, string][] = [];
  if (trainer.METHOD !== 'none') folders.push(['MODEL_DIR', folderOf(trainer.MODEL_DIR)]);
  if (gateway.POLICY_TOKENIZER_DIR !== undefined)
    folders.push(['POLICY_TOKENIZER_DIR', folderOf(gateway.POLICY_TOKENIZER_DIR)]);
  return folders;
}

async function localTokenizer(folder: string): Promise<LocalTokenizer> {
  if (!existsSync(folder)) throw new Error('there is no such folder');
  const read = async (file: string): Promise<object> => (await readJson(join(folder, file))) as object;
  const encoder: TextEncoder = textEncoder(await read('tokenizer.json'), await read('tokenizer_config.json'));
  const encode = (text: string): number[] =>
    encoder.encode(text, { add_special_tokens: false }).ids.map((id) => id ?? -1);
  const template = await ChatTemplate.load(folder);
  return { encode, promptIds: () => encode(template.render(PROBE_MESSAGES)) };
}

/** The ids that a server gives a text. */
export const engineEncoder =
  (server: Server, model: string): Encode =>
  (prompt) =>
    engineTokens(server, { model, prompt, add_special_tokens: false });

/** `null` where the server has no such call. */
async function engineTokens(server: Server, body: object): Promise<number[] | null> {
  const { status, json } = await call(server, `${rootOf(server.baseUrl)}/tokenize`, body);
  const tokens = (json as { tokens?: unknown } | undefined)?.tokens;
  return status === 200 && Array.isArray(tokens) ? (tokens as number[]) : null;
}

/** The first probe that two give other ids for, in words; `null` when all are equal, `undefined` where one of them cannot say. */
export async function firstDifference(a: Encode, b: Encode): Promise<string | null | undefined> {
  for (const text of VOCABULARY_PROBES) {
    const [left, right] = await Promise.all([a(text), b(text)]);
    if (left === null || right === null) return undefined;
    const at = Array.from({ length: Math.max(left.length, right.length) }, (_, i) => i).find(
      (i) => left[i] !== right[i],
    );
    if (at !== undefined)
      return `${JSON.stringify(text.slice(0, 24))} has ${left.length} and ${right.length} ids, the first that differ are ${left[at] ?? 'none'} and ${right[at] ?? 'none'}`;
  }
  return null;
}
