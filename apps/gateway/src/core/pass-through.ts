import { usageOf, type Usage } from './answer';
import { errorWithoutKey } from './engine-key';
import { endlessNumber } from './request-check';
import { SseParser, isDone, type SseEvent } from './sse-parser';
import { stripEvent, type AskedFields } from './strip-fields';

type Json = Record<string, unknown>;

export interface PassThroughRequest extends Json {
  readonly model?: string;
}

export type PassThroughCheck =
  | { readonly ok: true; readonly request: PassThroughRequest }
  | { readonly ok: false; readonly message: string; readonly param: string | null };

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Only what Hindcast reads is checked; everything else is the engine's to judge. */
export function checkPassThrough(body: unknown): PassThroughCheck {
  if (!isObject(body)) return { ok: false, message: 'the body must be a JSON object', param: null };
  const { model, stream_options: streamOptions, ...rest } = body;
  if (model !== undefined && model !== null && typeof model !== 'string')
    return { ok: false, message: 'model must be a string', param: 'model' };
  if (streamOptions !== undefined && streamOptions !== null && !isObject(streamOptions))
    return { ok: false, message: 'stream_options must be an object', param: 'stream_options' };
  const endless = endlessNumber(body);
  if (endless !== null) return { ok: false, message: `${endless} must be a finite number`, param: endless };
  const request = {
    ...rest,
    ...(model && { model }),
    ...(isObject(streamOptions) && { stream_options: streamOptions }),
  };
  return { ok: true, request };
}

/** What an answer says of its tokens. */
export interface CountedTokens {
  readonly usage: Usage | null;
  readonly promptIds: null;
  readonly sampledIds: null;
}

const counted = (body: unknown): CountedTokens => {
  // Embeddings have no completion.
  const usage = isObject(body) && isObject(body['usage']) ? { completion_tokens: 0, ...body['usage'] } : null;
  return { usage: usageOf(usage), promptIds: null, sampledIds: null };
};

export function usageIn(bytes: Uint8Array): CountedTokens {
  try {
    return counted(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return counted(null);
  }
}

/** Reads the usage that a stream gives at its end; cuts out what only Hindcast asked for, and the engine's key out of errors. All other bytes stay. */
export class UsageFilter {
  private readonly parser = new SseParser();
  counted: CountedTokens = counted(null);
  /** Pieces of an answer that came: at least as many tokens. */
  tokensSeen = 0;

  constructor(
    private readonly asked: AskedFields,
    private readonly engineKey?: string,
  ) {}

  /** @throws RangeError when an event is larger than the parser takes */
  push(piece: Uint8Array): readonly Uint8Array[] {
    return this.parser.push(piece).flatMap((event) => this.written(event));
  }

  end(): readonly Uint8Array[] {
    const rest = this.parser.end();
    return rest ? this.written(rest) : [];
  }

  private written(given: SseEvent): readonly Uint8Array[] {
    const event = errorWithoutKey(given, this.engineKey);
    if (event.data === null || isDone(event)) return [event.raw];
    let chunk: unknown;
    try {
      chunk = JSON.parse(event.data);
    } catch {
      return [event.raw];
    }
    if (!isObject(chunk)) return [event.raw];
    if (Array.isArray(chunk['choices'])) this.tokensSeen += chunk['choices'].length;
    if (isObject(chunk['usage'])) this.counted = counted(chunk);
    const raw = stripEvent(event, chunk, this.asked);
    return raw ? [raw] : [];
  }
}
