import type { StreamFormat } from '../client-format';
import { reportedBody, reportedStatus } from '../engine-error';
import type { SseEvent } from '../sse-parser';
import { BlockSequence } from './block-sequence';
import {
  isAborted,
  messageHead,
  reasoningOf,
  stopOf,
  textOf,
  toolUseId,
  unknownUsage,
  usageOf,
} from './messages-answer';
import { messagesError, messagesErrorBody } from './messages-error';
import type { AnswerOptions } from './messages-request';
import { isObject, type Json } from './request-fault';

const encoder = new TextEncoder();
const write = (event: Json): Uint8Array =>
  encoder.encode(`event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`);
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const LEGACY_CALL = -1;

/**
 * Writes the chunks of a streamed chat completion as the events of a message. Nothing is sent before the first block, so that an
 * engine that fails before it still gives the client a status.
 *
 * https://docs.claude.com/en/docs/build-with-claude/streaming
 */
export class MessagesStream implements StreamFormat {
  private readonly blocks: BlockSequence;
  private hasStarted = false;
  private isOver = false;
  private model: string | null = null;
  private hasText = false;
  private refusal = '';
  private usage: unknown = null;
  private promptTokens: number | null = null;
  private completionTokens: number | null = null;
  /** The choice as its last chunks describe it. */
  private readonly ending: Json = {};

  constructor(
    private readonly answerId: string,
    private readonly options: AnswerOptions,
  ) {
    this.blocks = new BlockSequence((index) => toolUseId(answerId, index));
  }

  chunk(_: SseEvent, chunk: Json): readonly Uint8Array[] {
    if (typeof chunk['model'] === 'string') this.model ??= chunk['model'];
    if (isObject(chunk['usage'])) this.usage = chunk['usage'];
    this.notePromptIds(chunk['prompt_token_ids']);
    for (const choice of list(chunk['choices']))
      if (isObject(choice) && (choice['index'] ?? 0) === 0) this.addChoice(choice);
    return this.written();
  }

  reported(_: SseEvent, error: unknown): readonly Uint8Array[] {
    const status = reportedStatus(error);
    return this.ended({ ...(JSON.parse(messagesErrorBody(status, reportedBody(error))) as Json) });
  }

  done(): readonly Uint8Array[] {
    if (this.isOver) return [];
    if (isAborted(this.ending['finish_reason']))
      return this.ended(messagesError(502, 'the engine aborted the answer', 'engine-stream-broken'));
    if (!this.hasText) this.blocks.text(this.refusal);
    this.blocks.finish();
    const before = this.written(true);
    const { hasToolUse } = this.blocks;
    const { refusal, options } = this;
    const delta = { ...stopOf(this.ending, { hasToolUse, refusal }, options), container: null };
    const usage = usageOf(this.usage, { prompt: this.promptTokens, completion: this.completionTokens });
    this.isOver = true;
    return [...before, write({ type: 'message_delta', delta, usage }), write({ type: 'message_stop' })];
  }

  failed(outcome: 'failed' | 'malformed', detail: string): readonly Uint8Array[] {
    const code = outcome === 'malformed' ? 'engine-invalid-response' : 'engine-stream-broken';
    return this.ended(messagesError(502, detail, code));
  }

  private ended(error: Json): readonly Uint8Array[] {
    if (this.isOver) return [];
    this.isOver = true;
    return [write(error)];
  }

  private addChoice(choice: Json): void {
    this.notePromptIds(choice['prompt_token_ids']);
    const ids = choice['token_ids'] ?? choice['output_token_ids'];
    if (Array.isArray(ids)) this.completionTokens = (this.completionTokens ?? 0) + ids.length;
    for (const field of ['finish_reason', 'stop_reason', 'matched_stop'])
      if (choice[field] != null) this.ending[field] = choice[field];
    if (isObject(choice['delta'])) this.addDelta(choice['delta']);
  }

  private addDelta(delta: Json): void {
    if (this.options.showsThinking) this.blocks.thinking(reasoningOf(delta));
    this.refusal += textOf(delta['refusal']);
    const text = typeof delta['content'] === 'string' ? delta['content'] : '';
    this.hasText ||= text.trim() !== '';
    this.blocks.text(text);
    list(delta['tool_calls']).forEach((call, position) => {
      if (isObject(call))
        this.addCall(typeof call['index'] === 'number' ? call['index'] : position, call['id'], call['function']);
    });
    if (isObject(delta['function_call'])) this.addCall(LEGACY_CALL, null, delta['function_call']);
  }

  private addCall(index: number, id: unknown, target: unknown): void {
    const called = isObject(target) ? target : {};
    this.blocks.tool(index, { id: textOf(id), name: textOf(called['name']), arguments: textOf(called['arguments']) });
  }

  private notePromptIds(ids: unknown): void {
    if (Array.isArray(ids)) this.promptTokens ??= ids.length;
  }

  /** What the blocks have to say; the message itself comes before the first of them. */
  private written(isLast = false): readonly Uint8Array[] {
    const events = this.blocks.take();
    if (!this.hasStarted && (events.length > 0 || isLast)) {
      this.hasStarted = true;
      events.unshift({ type: 'message_start', message: this.start() });
    }
    return events.map(write);
  }

  /** The engine's usage comes at the end; until then the prompt's ids say how many they are. */
  private start(): Json {
    return {
      ...messageHead(this.answerId, this.model, []),
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: { ...usageOf(this.usage, { prompt: this.promptTokens, completion: null }), ...unknownUsage },
    };
  }
}
