import type { ChatTemplate } from '@hindcast/language-model';
import { z } from 'zod';
import { conversationFields, renderConversation } from './chat-request';
import { parseBody } from './generation-fields';

const common = {
  model: z.string().nullish(),
  add_special_tokens: z.boolean().nullish(),
  return_token_strs: z.boolean().nullish(),
};
const TextBody = z.looseObject({ ...common, prompt: z.string() });
const ConversationBody = z.looseObject({ ...common, ...conversationFields });
const DetokenizeBody = z.looseObject({
  model: z.string().nullish(),
  tokens: z.array(z.number().int().nonnegative()),
});

export interface TokenizeRequest {
  readonly model: string | null;
  readonly text: string;
  readonly addSpecialTokens: boolean;
  readonly wantsStrings: boolean;
}

/** Reads the body of `/tokenize`: a text, or a conversation, of which `render` makes one. */
export function parseTokenizeRequest(template: Pick<ChatTemplate, 'render'>, body: unknown): TokenizeRequest {
  const isConversation = typeof body === 'object' && body !== null && 'messages' in body;
  const fields = isConversation ? parseBody(ConversationBody, body) : parseBody(TextBody, body);
  return {
    model: fields.model ?? null,
    text:
      'prompt' in fields && !('messages' in fields)
        ? (fields.prompt as string)
        : renderConversation(template, fields as z.infer<typeof ConversationBody>),
    // A chat template writes the special tokens itself.
    addSpecialTokens: fields.add_special_tokens ?? !isConversation,
    wantsStrings: fields.return_token_strs ?? false,
  };
}

/** Reads the body of `/detokenize`. */
export function parseDetokenizeRequest(body: unknown): { model: string | null; ids: readonly number[] } {
  const { model, tokens } = parseBody(DetokenizeBody, body);
  return { model: model ?? null, ids: tokens };
}
