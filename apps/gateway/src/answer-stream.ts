import { HindcastError } from '@hindcast/contracts';
import { reusedMemory } from '@hindcast/platform';
import type { ClientConnection } from './client-connection';
import type { CompletedAnswer } from './core/answer';
import type { EndedTurn } from './core/answer-record';
import { parseAnswerJson, type IdsRoom } from './core/answer-json';
import { ChunkAssembler } from './core/chunk-assembler';
import type { StreamFormat } from './core/client-format';
import { errorWithoutKey } from './core/engine-key';
import { SseParser, isDone, type SseEvent } from './core/sse-parser';
import { TokenEvents } from './core/token-events';
import { engineError } from './engine-client';
import type { EngineBody } from './engine-exchange';

/** How long the end of an answer is held back for its capture to be stored. */
export const HOLD_MS = 250;
/** How long an engine may take from the finished answer to the end of its stream: usage and end mark come at once, or never. */
const TAIL_MS = 2_000;
/** What an engine may send before its first event with data: one with an id every second, for hours. */
const MAX_BLANK_BYTES = 64 * 1024;

/** How a streamed answer ended. */
export interface StreamEnding {
  readonly outcome: EndedTurn['outcome'];
  /** Every choice, as far as it came. */
  readonly answers: readonly CompletedAnswer[];
  readonly detail: string;
  /** Tokens that came, as far as an answer that broke off shows them: its ids, else its pieces. */
  readonly tokensSeen?: number;
}

/** An error that the engine reported in place of an answer, before anything was sent to the client. */
export class EngineRefusal extends Error {
  constructor(readonly reported: unknown) {
    super('the engine reported an error in its stream');
  }
}

class MalformedStream extends Error {}

/**
 * Hands the engine's events on one by one while it puts the answer together. From the event on that finishes the last choice
 * everything is held until the answer is stored, or for HOLD_MS.
 */
export class AnswerStream {
  private readonly parser = new SseParser(undefined, (bytes) => reusedMemory.lease(bytes));
  private readonly assembler = new ChunkAssembler();
  /** `null` where every event has to be parsed. */
  private readonly tokens: TokenEvents | null;
  private held: Uint8Array[] | null = null;
  private holdTimer: NodeJS.Timeout | null = null;
  private holdOver: Promise<void> = Promise.resolve();
  private tailTimer: NodeJS.Timeout | null = null;
  private abandon: () => void = () => undefined;
  private isHoldSpent = false;
  /** Events of one piece of the engine's stream go out in one write, at once. */
  private unwritten: Uint8Array[] = [];
  private writing: Promise<void> = Promise.resolve();
  private beforeStart: Uint8Array[] = [];
  private blankBytes = 0;
  private hasData = false;
  private isDone = false;
  private reportedError = false;

  constructor(
    private readonly client: ClientConnection,
    private readonly headers: Readonly<Record<string, string>>,
    private readonly format: StreamFormat,
    private readonly choices: number,
    /** Where the ids of a long prompt are kept. */
    private readonly idsRoom?: IdsRoom,
    /** `POLICY_API_KEY`, which no error of the engine shows to the client. */
    private readonly engineKey?: string,
  ) {
    this.tokens = format.tokensLess ? new TokenEvents(format.tokensLess) : null;
  }

  /** The engine has finished the answer; what may still come is its usage and its end mark. */
  get isFinished(): boolean {
    return this.assembler.isFinished(this.choices);
  }

  /**
   * @param store writes the answer down; the client waits for it
   * @returns `null` when the client went away before the answer began
   * @throws HindcastError or EngineRefusal while nothing was sent yet: the client can still get a status
   */
  async relay(body: EngineBody, store: (ending: StreamEnding) => Promise<void>): Promise<StreamEnding | null> {
    const ending = await this.read(body);
    if (!ending) return null;
    // An engine that reported its error has told the client itself.
    if (!this.reportedError && !this.client.isGone) {
      if (ending.outcome !== 'complete') this.send(this.format.failed(ending.outcome, ending.detail));
      else if (!this.isDone) this.send(this.format.done(null));
      await this.flush();
    }
    const stored = store(ending);
    await Promise.race([stored, this.holdOver]);
    await this.release();
    this.client.end();
    await stored;
    return ending;
  }

  private async read(body: EngineBody): Promise<StreamEnding | null> {
    this.abandon = () => void body.destroy(new Error('the engine did not end the stream of a finished answer'));
    try {
      for await (const chunk of body) {
        for (const event of this.parser.push(chunk)) this.take(event);
        this.parser.taken();
        await this.flush();
        // Whatever an engine says after its error is no part of an answer.
        if (this.reportedError) break;
      }
      const rest = this.parser.end();
      if (rest?.data !== undefined && rest.data !== null) this.take(terminated(rest));
      await this.flush();
    } catch (error) {
      return this.broken(error);
    } finally {
      if (this.tailTimer) clearTimeout(this.tailTimer);
    }
    if (this.reportedError) return this.ending('failed', 'the engine reported an error');
    if (!this.hasData) {
      const detail = 'the engine sent no answer';
      if (this.client.hasStarted) return this.ending('failed', detail);
      throw new HindcastError('engine-invalid-response', detail);
    }
    if (!this.isFinished && !this.isDone) {
      const detail = 'the engine broke off the answer';
      // A format may wait for the first token; until then there is a status to tell it with.
      if (!this.client.hasStarted) throw new HindcastError('engine-stream-broken', detail);
      return this.ending('failed', detail);
    }
    return this.ending('complete', 'complete');
  }

  private broken(error: unknown): StreamEnding | null {
    if (error instanceof EngineRefusal) throw error;
    const isMalformed = error instanceof MalformedStream || error instanceof RangeError;
    if (isMalformed) {
      if (!this.client.hasStarted)
        throw new HindcastError('engine-invalid-response', 'the engine did not answer with an event stream', {
          cause: error,
        });
      return this.ending('malformed', error.message);
    }
    if (this.isFinished || (this.isDone && this.hasData)) return this.ending('complete', 'complete');
    if (this.client.isGone) return this.hasData ? this.ending('failed', 'the client went away') : null;
    const failure = engineError(error);
    if (!this.client.hasStarted) {
      if (failure.code === 'engine-timeout') throw failure;
      throw new HindcastError('engine-stream-broken', 'the engine closed the connection before it answered', {
        cause: error,
      });
    }
    return this.ending(
      'failed',
      failure.code === 'engine-timeout' ? 'the engine went silent' : 'the engine broke off the answer',
    );
  }

  private ending(outcome: StreamEnding['outcome'], detail: string): StreamEnding {
    return { outcome, answers: this.assembler.answers(this.choices), detail, tokensSeen: this.assembler.tokensSeen };
  }

  private take(event: SseEvent): void {
    // A client reads nothing past these either.
    if (this.isDone || this.reportedError) return;
    if (this.hasData && this.takeTokens(event)) return;
    if (event.dataStart === undefined && event.data === null) return this.takeBlank(event);
    if (isDone(event)) {
      this.isDone = true;
      this.tailTimer ??= setTimeout(this.abandon, TAIL_MS);
      // The end of nothing is no answer, and would pass for one.
      if (!this.hasData) return;
      return this.send(this.format.done(event));
    }
    const chunk = parseChunk(event, this.idsRoom);
    if (event.event === 'error' || (chunk['error'] !== undefined && chunk['error'] !== null))
      return this.takeError(errorWithoutKey(event, this.engineKey));
    this.hasData = true;
    this.assembler.add(chunk);
    this.tokens?.learn(event);
    const written = this.written(event, chunk);
    if (this.isFinished && !this.held && !this.isHoldSpent) this.startHold();
    this.send(written);
  }

  private takeTokens(event: SseEvent): boolean {
    const written = this.tokens?.read(event);
    if (!written) return false;
    this.assembler.addTokens(this.tokens!);
    // Of most of what is sent: no list is made for it, and nothing asked twice.
    if (this.held || !this.client.hasStarted || this.beforeStart.length > 0) this.send([written]);
    else this.unwritten.push(this.kept(written));
    return true;
  }

  private takeError(event: SseEvent): void {
    const chunk = parseChunk(event);
    const reported = chunk['error'] ?? chunk;
    if (!this.client.hasStarted) throw new EngineRefusal(reported);
    this.reportedError = true;
    this.send(this.format.reported(event, reported));
  }

  private written(event: SseEvent, chunk: Record<string, unknown>): readonly Uint8Array[] {
    try {
      return this.format.chunk(event, chunk);
    } catch (cause) {
      throw new MalformedStream('an event could not be read', { cause });
    }
  }

  /** Comments keep a waiting client's connection open, so they may begin the answer; other blocks without data may not. */
  private takeBlank(event: SseEvent): void {
    if (this.client.hasStarted || event.raw[0] === COLON) return this.send([event.raw]);
    this.blankBytes += event.raw.length;
    if (this.blankBytes > MAX_BLANK_BYTES)
      throw new MalformedStream(`more than ${MAX_BLANK_BYTES} bytes came before the first event with data`);
    this.beforeStart.push(this.kept(event.raw));
  }

  private send(written: readonly Uint8Array[]): void {
    const { held } = this;
    if (held) {
      for (const event of written) held.push(this.kept(event));
      return;
    }
    if (written.length === 0) return;
    this.client.start(this.headers);
    if (this.beforeStart.length > 0) for (const event of this.beforeStart.splice(0)) this.unwritten.push(event);
    // One by one: the events of a long tail would not fit on the stack as arguments of one call.
    for (const event of written) this.unwritten.push(this.kept(event));
  }

  private kept(bytes: Uint8Array): Uint8Array {
    return this.parser.isLent(bytes) ? Buffer.from(bytes) : bytes;
  }

  /** Resolves when the client can take more. */
  private flush(): Promise<void> {
    const events = this.unwritten;
    if (events.length > 0) {
      this.unwritten = [];
      this.writing = this.writing.then(() =>
        this.client.write(events.length === 1 ? events[0]! : Buffer.concat(events)),
      );
    }
    return this.writing;
  }

  private startHold(): void {
    this.held = [];
    this.tailTimer ??= setTimeout(this.abandon, TAIL_MS);
    this.holdOver = new Promise((resolve) => {
      this.holdTimer = setTimeout(() => {
        void this.release();
        resolve();
      }, HOLD_MS);
    });
  }

  private async release(): Promise<void> {
    if (this.holdTimer) clearTimeout(this.holdTimer);
    this.isHoldSpent = true;
    const events = this.held ?? [];
    this.held = null;
    this.send(events);
    await this.flush();
  }
}

const COLON = 0x3a;
const LF = 0x0a;

/** The last event of a stream that ended without its blank line: what we add must not run into it. */
const terminated = (event: SseEvent): SseEvent => {
  const missing = event.raw.at(-1) === LF ? '\n' : '\n\n';
  return { ...event, raw: Buffer.concat([event.raw, Buffer.from(missing)]) };
};

function parseChunk(event: SseEvent, idsRoom?: IdsRoom): Record<string, unknown> {
  const { raw, dataStart, dataEnd } = event;
  let chunk: unknown;
  try {
    chunk =
      dataStart === undefined
        ? JSON.parse(event.data!)
        : parseAnswerJson(raw.subarray(dataStart, dataEnd), { text: () => event.data!, idsRoom });
  } catch (cause) {
    throw new MalformedStream('an event is not JSON', { cause });
  }
  if (typeof chunk !== 'object' || chunk === null || Array.isArray(chunk))
    throw new MalformedStream('an event is not an object');
  return chunk as Record<string, unknown>;
}
