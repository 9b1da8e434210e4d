import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI, { APIConnectionError, APIError } from 'openai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { Answer } from './core/user';

/** Longest answer that is asked for, tokens. */
export const MAX_TOKENS = 120;

export interface Ask {
  readonly model: string;
  readonly messages: readonly ChatCompletionMessageParam[];
  readonly seed: number;
  readonly maxTokens?: number;
  readonly turnType: 'main' | 'side';
  readonly sessionId?: string;
  readonly sessionDone?: boolean;
}

/** A program that uses Hindcast as its LLM endpoint: the official client, streaming, three headers. */
export class ChatClient {
  private readonly openai: OpenAI;

  constructor(gatewayUrl: string, apiKey = 'unused') {
    // An unreachable gateway is waited for here, where it can be told to the person at the terminal.
    this.openai = new OpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey, maxRetries: 0, timeout: 120_000 });
  }

  /** Streams one answer to its end. Waits while the gateway or the engine is away, up to `patienceMs`. */
  async ask(ask: Ask, patienceMs = 600_000): Promise<Answer> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      try {
        return await this.stream(ask);
      } catch (error) {
        if (!isPassing(error) || performance.now() > deadline) throw error;
        await sleep(500);
      }
    }
  }

  private async stream({ model, messages, seed, turnType, sessionId, sessionDone, maxTokens }: Ask): Promise<Answer> {
    const headers = {
      'X-Turn-Type': turnType,
      ...(sessionId === undefined ? {} : { 'X-Session-Id': sessionId }),
      ...(sessionDone ? { 'X-Session-Done': '1' } : {}),
    };
    const stream = await this.openai.chat.completions.create(
      {
        model,
        messages: [...messages],
        seed,
        temperature: 1,
        max_tokens: maxTokens ?? MAX_TOKENS,
        stream: true,
        stream_options: { include_usage: true },
      },
      { headers },
    );
    let text = '';
    let finishReason: string | null = null;
    let completionTokens: number | undefined;
    for await (const { choices, usage } of stream) {
      text += choices[0]?.delta.content ?? '';
      finishReason = choices[0]?.finish_reason ?? finishReason;
      completionTokens = usage?.completion_tokens ?? completionTokens;
    }
    if (finishReason === null || completionTokens === undefined)
      throw new APIConnectionError({ message: 'the answer broke off' });
    const ended = finishReason === 'stop';
    return { text, ended, tokens: ended ? completionTokens - 1 : completionTokens };
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof APIConnectionError) return true;
  // The client throws a bare TypeError when a stream is cut while it is being read (of another realm under some runners).
  if ((error as { name?: unknown } | null)?.name === 'TypeError') return true;
  return error instanceof APIError && (error.status === undefined || error.status === 429 || error.status >= 500);
}
