import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, type LoggerService } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { destination, pino, type Logger } from 'pino';

/** Ids that every log line of an operation carries. */
export interface LogContext {
  readonly turnId?: string;
  readonly sessionId?: string | null;
  readonly policyVersion?: number;
}

const contexts = new AsyncLocalStorage<LogContext>();

/** Runs `fn` so that every line logged inside carries the ids, added to those of the surrounding context. */
export function withLogContext<T>(context: LogContext, fn: () => T): T {
  return contexts.run({ ...contexts.getStore(), ...context }, fn);
}

/** Has pino say of what level a line is. */
const METADATA: unique symbol = Symbol.for('pino.metadata') as never;
/** Levels from which on a line is written at once: it may be the last one. */
const URGENT = 40;

/** A pipe takes so many bytes in one piece, also from processes that share it (POSIX: at least 512; Linux: 4,096). */
const WHOLE_BYTES = 4_096;

/**
 * Standard output. The lines of one turn of the event loop are written together, since a write by itself takes longer than its line, and
 * synchronously: the last lines before an exit are the ones that matter.
 */
class GatheredLines {
  readonly [METADATA] = true;
  private readonly output = destination({ fd: 1, sync: true });
  private lines = '';
  private bytes = 0;
  /** Of the line that pino writes next; pino sets it. */
  lastLevel = 0;

  constructor() {
    process.once('exit', () => this.flush());
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.bytes + bytes > WHOLE_BYTES) this.flush();
    if (this.bytes === 0 && this.lastLevel < URGENT) setImmediate(() => this.flush());
    this.lines += line;
    this.bytes += bytes;
    if (this.lastLevel >= URGENT) this.flush();
  }

  private flush(): void {
    if (this.bytes > 0) this.output.write(this.lines);
    this.lines = '';
    this.bytes = 0;
  }
}

let lines: GatheredLines | null = null;

/** Events with ids, as JSON lines on stdout. The text of prompts and answers belongs to `debug` only. */
@Injectable()
export class Log {
  private readonly logger: Logger;

  constructor(app: string, level: string) {
    this.logger = pino(
      {
        base: { app },
        level,
        messageKey: 'event',
        formatters: { level: (label) => ({ level: label }) },
        serializers: { error: errorFields, err: errorFields },
        mixin: () => ({ ...contexts.getStore() }),
      },
      (lines ??= new GatheredLines()),
    );
  }

  debug(event: string, fields: object = {}): void {
    this.logger.debug(fields, event);
  }
  info(event: string, fields: object = {}): void {
    this.logger.info(fields, event);
  }
  warn(event: string, fields: object = {}): void {
    this.logger.warn(fields, event);
  }
  error(event: string, fields: object = {}): void {
    this.logger.error(fields, event);
  }
}

function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return {
    name: error.name,
    message: error.message,
    ...(error instanceof HindcastError ? { code: error.code } : { stack: error.stack }),
    ...(error.cause === undefined ? {} : { cause: errorFields(error.cause) }),
  };
}

/** Nest's own messages as events; its start-up chatter only at `debug`. */
export class NestLog implements LoggerService {
  constructor(private readonly sink: Log) {}

  log(message: unknown, ...context: unknown[]): void {
    this.sink.debug('nest', { message, context });
  }
  error(message: unknown, ...context: unknown[]): void {
    this.sink.error('nest', { message, context });
  }
  warn(message: unknown, ...context: unknown[]): void {
    this.sink.warn('nest', { message, context });
  }
  debug(message: unknown, ...context: unknown[]): void {
    this.sink.debug('nest', { message, context });
  }
  verbose(): void {
    // Route tables and injection traces: of no use to who runs the service.
  }
}
