/** A chat message as the client sent it. */
export type Message = Readonly<Record<string, unknown>>;

/** Line that introduces a hint at the end of the last user message, as in OpenClaw-RL. */
export const HINT_TAG = "[user's hint / instruction]";

/** Text of a message's content: a string as it is, the text parts of a list joined by a blank, nothing for `null`. */
export function flattenContent(content: unknown): string {
  if (content === null || content === undefined) return '';
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) {
    return content
      .filter(
        (part): part is { type: 'text'; text?: unknown } =>
          typeof part === 'object' && part !== null && (part as Message)['type'] === 'text',
      )
      .map((part) => (typeof part.text === 'string' ? part.text : ''))
      .join(' ');
  }
  return JSON.stringify(content);
}

/**
 * The conversation as the teacher sees it: the hint stands at the end of the last user message (of the last message when no user
 * spoke). All other messages stay as they are, so that everything before that point tokenises as it did for the policy.
 */
export function hintedMessages(messages: readonly Message[], hint: string): Message[] {
  const suffix = `${HINT_TAG}\n${hint.trim()}`;
  if (messages.length === 0) return [{ role: 'user', content: suffix }];
  const lastUser = messages.findLastIndex((message) => message['role'] === 'user');
  const target = lastUser >= 0 ? lastUser : messages.length - 1;
  return messages.map((message, i) =>
    i === target ? { ...message, content: `${flattenContent(message['content'])}\n\n${suffix}`.trim() } : message,
  );
}
