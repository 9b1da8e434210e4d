import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import type { Stack } from '../../apps/simulator/src/stack/stack';

export interface Answer {
  readonly turnId: string;
  readonly model: string;
  readonly message: OpenAI.ChatCompletionMessage;
}

/** Sends a conversation through the gateway. */
export async function chat(stack: Stack, messages: OpenAI.ChatCompletionMessageParam[]): Promise<Answer> {
  const client = new OpenAI({ baseURL: `${stack.gatewayUrl}/v1`, apiKey: 'none', maxRetries: 0 });
  const { data, response } = await client.chat.completions
    .create({ model: 'hindcast', messages, max_tokens: 120 })
    .withResponse();
  return { turnId: response.headers.get('x-hindcast-turn-id')!, model: data.model, message: data.choices[0]!.message };
}

/** Waits for what must become true; what cannot be asked yet is not true yet. The test's own time limit ends the wait. */
export async function eventually(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue().catch(() => false))) await sleep(100);
}
