import { reportedBody, streamError } from './engine-error';
import type { SseEvent } from './sse-parser';
import { stripEvent, stripFields, type AskedFields } from './strip-fields';
import type { WholeAnswer } from './whole-answer';

type Json = Record<string, unknown>;

/**
 * The API that a client speaks, in terms of chat completions: those are what engines answer with and what is captured. A format
 * belongs to one request.
 */
export interface ClientFormat {
  /** Id under which the client gets to know the answer; `null`: the engine's own. */
  responseId(turnId: string): string | null;
  /** Body of an error response, from OpenAI's error body (JSON). */
  error(status: number, body: string): string;
  /**
   * Body of a whole answer.
   *
   * @param answerId id of the turn, or of the answer where it is no turn
   * @throws SyntaxError when the engine's JSON cannot be cut
   */
  whole(answer: WholeAnswer, asked: AskedFields, answerId: string): Buffer;
  stream(asked: AskedFields, answerId: string): StreamFormat;
}

/** Writes one streamed answer in the client's format: bytes to send for what the engine sent, each entry one event. */
export interface StreamFormat {
  /** Set where an event that holds nothing but tokens goes to the client as it is, less these fields: it need not be parsed. */
  readonly tokensLess?: AskedFields;
  /** @param chunk the event's data, parsed */
  chunk(event: SseEvent, chunk: Json): readonly Uint8Array[];
  /** The engine reported an error after the answer began. The answer ends with it. */
  reported(event: SseEvent, error: unknown): readonly Uint8Array[];
  /** The answer is complete; `event` is the engine's end mark, `null` when it sent none. */
  done(event: SseEvent | null): readonly Uint8Array[];
  /** The answer cannot go on, for a reason of ours. */
  failed(outcome: 'failed' | 'malformed', detail: string): readonly Uint8Array[];
}

const holdsError = ({ data }: SseEvent): boolean => {
  const { error } = JSON.parse(data!) as Json;
  return isObject(error) || typeof error === 'string';
};
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
const dataEvent = (data: string): Uint8Array => new TextEncoder().encode(`data: ${data}\n\n`);

/** Chat completions: every byte is the engine's, less what only Hindcast had asked for. */
export const chatFormat: ClientFormat = {
  responseId: () => null,
  error: (_, body) => body,
  whole: ({ bytes, stripped }, asked) => stripped ?? Buffer.from(stripFields(bytes, asked, false)),
  stream: (asked) => ({
    tokensLess: asked,
    chunk: (event, chunk) => {
      const raw = stripEvent(event, chunk, asked);
      return raw ? [raw] : [];
    },
    // A client that reads no event names takes only an `error` member for an error.
    reported: (event, error) => [holdsError(event) ? event.raw : dataEvent(reportedBody(error))],
    done: (event) => (event ? [event.raw] : []),
    failed: (outcome, detail) => [streamError(outcome, detail)],
  }),
};
