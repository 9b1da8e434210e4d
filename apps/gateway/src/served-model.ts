import { join } from 'node:path';
import {
  ChatTemplate,
  readJson,
  textEncoder,
  type TemplateMessage,
  type TextEncoder,
} from '@hindcast/language-model/text';
import type { Vocabulary } from './core/vocabulary';
import { readVocabulary } from './vocabulary-file';

/** What of a request decides its prompt. */
export interface PromptRequest {
  readonly messages: readonly TemplateMessage[];
  readonly tools: readonly unknown[] | null;
  /** `chat_template_kwargs`. */
  readonly templateArguments: Readonly<Record<string, unknown>>;
}

/**
 * The tokenizer and chat template of a model that runs elsewhere, from its Hugging Face folder: tokenizer.json,
 * tokenizer_config.json and, where there is one, chat_template.jinja.
 */
export class ServedModel {
  private constructor(
    readonly vocabulary: Vocabulary,
    private readonly template: ChatTemplate,
    private readonly encoder: TextEncoder,
  ) {}

  /** ModelFormatError when a file is missing or of no known kind. */
  static async load(dir: string): Promise<ServedModel> {
    const path = join(dir, 'tokenizer.json');
    const tokenizer = await readJson(path);
    const config = (await readJson(join(dir, 'tokenizer_config.json'))) as object;
    const vocabulary = readVocabulary(path, tokenizer, config);
    return new ServedModel(vocabulary, await ChatTemplate.load(dir), textEncoder(tokenizer as object, config));
  }

  /**
   * The ids that the prompt may have, one after another, the likelier first: as the template writes it, and with the marks that the tokenizer
   * itself puts around a text, where these are not written already. Throws what the template raises.
   */
  *promptCandidates({ messages, tools, templateArguments }: PromptRequest): Generator<number[]> {
    const text = this.template.render(messages, { tools, templateArguments });
    yield this.encode(text, false);
    const marked = this.encode(text, true);
    const isMarkedTwice = marked[0] === marked[1];
    if (!isMarkedTwice) yield marked;
  }

  private encode(text: string, addSpecialTokens: boolean): number[] {
    return this.encoder.encode(text, { add_special_tokens: addSpecialTokens }).ids.map((id) => {
      if (id === undefined) throw new RangeError('the tokenizer has no token for a piece of the prompt');
      return id;
    });
  }
}
