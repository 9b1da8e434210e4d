import { messagesRequest } from '../core/messages/messages-request';

/** A request for a message, with these fields. */
export const ask = (fields: object): object => ({
  max_tokens: 9,
  messages: [{ role: 'user', content: 'hi' }],
  ...fields,
});

/** The chat request that a body becomes. @throws Error where it is refused */
export const chatOf = (body: unknown, dialect: 'vllm' | 'sglang' | 'openai' = 'vllm'): Record<string, unknown> => {
  const request = messagesRequest(body, dialect);
  if (!request.ok) throw new Error(request.message);
  return request.chat;
};

export const user = (...content: object[]): object => ({ role: 'user', content });
export const assistant = (...content: object[]): object => ({ role: 'assistant', content });
export const text = (value: string): object => ({ type: 'text', text: value });
export const use = (id: string, input: unknown): object => ({ type: 'tool_use', id, name: 'read', input });
export const result = (id: string, fields: object = {}): object => ({
  type: 'tool_result',
  tool_use_id: id,
  ...fields,
});
export const last = { role: 'user', content: 'go on' };
