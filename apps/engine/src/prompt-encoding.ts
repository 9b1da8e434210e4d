import { check } from './core/generation-fields';
import type { Language } from './served-models';

/** Tokenizing takes about a millisecond per KiB, in which nobody else is served. */
const MAX_TEXT_BYTES = 128 * 1024;
/** A normalizer may shorten a text; by no more than this. */
const SLACK = 4;

/** Ids of a prompt. A text that cannot fit the model's positions is refused before time is spent on it. */
export function encodePrompt(language: Language, prompt: string, addSpecialTokens: boolean): number[] {
  const { maxPositions } = language.config;
  const { maxTokenBytes } = language;
  const bytes = Buffer.byteLength(prompt);
  check(
    bytes <= SLACK * maxPositions * maxTokenBytes,
    'input_tokens',
    `This model's maximum context length is ${maxPositions} tokens. However, your request has at least ` +
      `${Math.ceil(bytes / (SLACK * maxTokenBytes))} input tokens. Please reduce the length of the input messages.`,
  );
  return language.tokenizer.encode(prompt, { addSpecialTokens });
}

/** Ids of any text up to 128 KiB. */
export function encodeText(language: Language, text: string, addSpecialTokens: boolean): number[] {
  const bytes = Buffer.byteLength(text);
  check(
    bytes <= MAX_TEXT_BYTES,
    'prompt',
    `This engine tokenizes at most ${MAX_TEXT_BYTES} bytes at once; the text has ${bytes}.`,
  );
  return language.tokenizer.encode(text, { addSpecialTokens });
}
