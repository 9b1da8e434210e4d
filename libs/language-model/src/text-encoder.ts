import { Tokenizer } from '@huggingface/tokenizers';

/** Turns text into ids as the tokenizer of a Hugging Face directory does, whatever its model: byte level or SentencePiece. */
export interface TextEncoder {
  /** `add_special_tokens`: with what the post-processor puts around a text (a beginning-of-sequence mark, mostly). */
  encode(text: string, options: { add_special_tokens: boolean }): { ids: (number | undefined)[] };
}

/** The encoder of a tokenizer.json and tokenizer_config.json that were read already. */
export function textEncoder(tokenizer: object, config: object): TextEncoder {
  // The package's own declarations do not resolve under nodenext, so what is used of it is written down above.
  return new Tokenizer(tokenizer, config) as unknown as TextEncoder;
}
