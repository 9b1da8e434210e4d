import { HindcastError } from '@hindcast/contracts';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { readChatEvent } from './core/chat-events';
import type { Gateway } from './gateway';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface ChatAnswer {
  /** `null` of an answer that is not captured, such as a side request. */
  readonly turnId: string | null;
  readonly responseId: string | null;
  readonly model: string | null;
  readonly text: string;
  readonly finishReason: string | null;
}

/** A conversation with the policy. Each answer is a turn: what is said next is its next state. */
export class Conversation {
  private readonly messages: ChatMessage[] = [];

  constructor(
    private readonly gateway: Gateway,
    private readonly options: {
      readonly model: string;
      readonly session?: string;
      readonly system?: string;
      readonly maxTokens?: number;
    },
  ) {
    if (options.system !== undefined) this.messages.push({ role: 'system', content: options.system });
  }

  /**
   * Asks for an answer and hands on its pieces as they come. An answer that was broken off leaves the conversation as it was.
   *
   * @param signal its abort ends the answer at the engine, too
   */
  async say(text: string, onText: (piece: string) => void, signal: AbortSignal): Promise<ChatAnswer> {
    const { model, session, maxTokens } = this.options;
    const messages = [...this.messages, { role: 'user' as const, content: text }];
    const body = { model, stream: true, messages, ...(maxTokens !== undefined && { max_tokens: maxTokens }) };
    const headers: Record<string, string> = session === undefined ? {} : { 'x-session-id': session };
    const response = await this.gateway.send('/v1/chat/completions', body, signal, headers);
    const answer = await read(response, onText);
    this.messages.push(messages.at(-1)!, { role: 'assistant', content: answer.text });
    return answer;
  }
}

async function read(response: Response, onText: (piece: string) => void): Promise<ChatAnswer> {
  if (!response.body) throw new HindcastError('engine-invalid-response', 'the gateway sent no answer');
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  let answer: ChatAnswer = {
    turnId: response.headers.get('x-hindcast-turn-id'),
    responseId: null,
    model: null,
    text: '',
    finishReason: null,
  };
  let isOver = false;
  for await (const { data } of events) {
    const delta = readChatEvent(data);
    if (delta.text !== '') onText(delta.text);
    answer = {
      ...answer,
      text: answer.text + delta.text,
      responseId: answer.responseId ?? delta.responseId,
      model: answer.model ?? delta.model,
      finishReason: delta.finishReason ?? answer.finishReason,
    };
    isOver ||= delta.isLast;
  }
  if (!isOver) throw new HindcastError('engine-stream-broken', 'the answer ended before its end');
  return answer;
}
