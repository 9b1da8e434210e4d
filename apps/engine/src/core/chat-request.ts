import type { ChatTemplate, TemplateMessage } from '@hindcast/language-model';
import { z } from 'zod';
import {
  check,
  generationFields,
  generationRequest,
  MAX_LOG_PROBS,
  parseBody,
  type GenerationRequest,
} from './generation-fields';
import { RequestError } from './request-error';

const ContentPart = z.looseObject({ type: z.string() });
const Message = z.looseObject({
  role: z.string().min(1),
  content: z.union([z.string(), z.array(ContentPart)]).nullish(),
});

/** What decides the prompt of a conversation; `/tokenize` takes the same. */
export const conversationFields = {
  messages: z.array(Message).min(1),
  tools: z.array(z.looseObject({})).nullish(),
  add_generation_prompt: z.boolean().nullish(),
  continue_final_message: z.boolean().nullish(),
  chat_template: z.string().nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
};
export type ConversationFields = z.infer<z.ZodObject<typeof conversationFields, z.core.$loose>>;

const ChatBody = z.looseObject({
  ...generationFields,
  ...conversationFields,
  max_completion_tokens: z.number().int().nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.number().int().nullish(),
  echo: z.boolean().nullish(),
  add_special_tokens: z.boolean().nullish(),
  tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]).nullish(),
});

export interface ChatRequest extends GenerationRequest {
  readonly conversation: ConversationFields;
  readonly addSpecialTokens: boolean;
  /** There are tools, and the answer may call them. */
  readonly callsTools: boolean;
  /** How many of the most likely tokens to give with each log-probability; null: no log-probabilities. */
  readonly top: number | null;
}

/** Reads the body of `/v1/chat/completions`. */
export function parseChatRequest(body: unknown): ChatRequest {
  const fields = parseBody(ChatBody, body);
  const { top_logprobs: top, tool_choice: toolChoice } = fields;
  check(top == null || top >= 0, 'top_logprobs', '`top_logprobs` must be a positive value.');
  check(
    top == null || top === 0 || fields.logprobs === true,
    'top_logprobs',
    'when using `top_logprobs`, `logprobs` must be set to true.',
  );
  check(
    top == null || top <= MAX_LOG_PROBS,
    'top_logprobs',
    `Requested sample logprobs of ${top}, which is greater than max allowed: ${MAX_LOG_PROBS}`,
  );
  check(
    toolChoice == null || toolChoice === 'auto' || toolChoice === 'none',
    'tool_choice',
    'This engine forces no call: `tool_choice` must be "auto" or "none".',
  );
  check(fields.echo !== true, 'echo', 'This engine does not support `echo` in chat completions.');
  const maxTokens = fields.max_completion_tokens ?? fields.max_tokens ?? null;
  check(maxTokens === null || maxTokens >= 1, 'max_tokens', `max_tokens must be at least 1, got ${maxTokens}.`);
  return {
    ...generationRequest({ ...fields, max_tokens: maxTokens }),
    conversation: fields,
    addSpecialTokens: fields.add_special_tokens ?? false,
    callsTools: (fields.tools?.length ?? 0) > 0 && toolChoice !== 'none',
    top: fields.logprobs ? (top ?? 0) : null,
  };
}

/** The prompt text of a conversation. */
export function renderConversation(template: Pick<ChatTemplate, 'render'>, fields: ConversationFields): string {
  check(
    fields.chat_template == null,
    'chat_template',
    'Chat template is passed with request, but --trust-request-chat-template is not set. ' +
      'Refused request with untrusted chat template.',
  );
  const continues = fields.continue_final_message ?? false;
  const addGenerationPrompt = fields.add_generation_prompt ?? true;
  check(
    !(continues && addGenerationPrompt),
    'continue_final_message',
    'Cannot set both `continue_final_message` and `add_generation_prompt` to True.',
  );
  const messages = fields.messages.map(templateMessage);
  let text: string;
  try {
    text = template.render(messages, {
      tools: fields.tools ?? null,
      addGenerationPrompt,
      templateArguments: fields.chat_template_kwargs ?? {},
    });
  } catch (error) {
    // Tool arguments are JSON in a text, of any depth.
    if (error instanceof RangeError)
      throw new RequestError('BadRequestError', 'The messages are nested too deeply.', 'messages');
    throw new RequestError('BadRequestError', error instanceof Error ? error.message : String(error), 'messages');
  }
  return continues ? cutBehindLastMessage(text, messages) : text;
}

/** Templates expect text: parts are joined by the template reader, and an absent content (of a tool call) is an empty text. */
function templateMessage(message: z.infer<typeof Message>): TemplateMessage {
  const parts = Array.isArray(message.content) ? message.content : [];
  const other = parts.find((part) => part.type !== 'text' || typeof part['text'] !== 'string');
  check(other === undefined, 'messages', `This engine reads text only; a content part has the type ${other?.type}.`);
  return { ...message, content: message.content ?? '' };
}

function cutBehindLastMessage(text: string, messages: readonly TemplateMessage[]): string {
  const { content } = messages.at(-1)!;
  check(typeof content === 'string', 'continue_final_message', 'The final message has no text to continue.');
  const at = text.lastIndexOf((content as string).trim());
  check(at >= 0, 'continue_final_message', 'The chat template does not show the final message as it is.');
  return text.slice(0, at + (content as string).trim().length);
}
