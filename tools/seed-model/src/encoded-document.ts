import type { TrainingDocument, TrainingMessage } from '@hindcast/seed-world';
import type { Tokenizer } from '@hindcast/language-model';
import { cutIntoWords } from './byte-pairs';
import { markIds } from './model-files';

/** A conversation as the model reads it. Both arrays have one entry for each token. */
export interface EncodedDocument {
  readonly tokenIds: readonly number[];
  /** 1 where the token is learned: what the assistant says and the mark that ends it. */
  readonly lossMask: readonly number[];
}

/** Encodes conversations as the chat template writes them, remembering the few words the little world has. */
export class DocumentEncoder {
  private readonly words = new Map<string, readonly number[]>();

  constructor(private readonly tokenizer: Tokenizer) {}

  /** A whole conversation, for training. */
  encode(document: TrainingDocument): EncodedDocument {
    const tokenIds: number[] = [markIds.bos];
    const lossMask: number[] = [0];
    for (const { role, content } of document.messages) {
      const said = [...this.encodeText(content), markIds.end];
      tokenIds.push(markIds[role], ...said);
      lossMask.push(0, ...said.map(() => (role === 'assistant' ? 1 : 0)));
    }
    return { tokenIds, lossMask };
  }

  /** A conversation that the model is to answer. */
  encodePrompt(messages: readonly TrainingMessage[]): number[] {
    return [...this.encode({ messages }).tokenIds, markIds.assistant];
  }

  private encodeText(text: string): number[] {
    return cutIntoWords(text).flatMap((word) => {
      let ids = this.words.get(word);
      if (ids === undefined) this.words.set(word, (ids = this.tokenizer.encode(word)));
      return ids;
    });
  }
}
