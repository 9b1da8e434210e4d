import { HttpException } from '@nestjs/common';
import { openAiError } from '@hindcast/platform';

/** The circuits of all engines that could answer are open: nobody is asked. */
export class EnginesAway extends HttpException {
  /** When an engine is tried again. */
  readonly retryAfterSeconds: number;

  /** @param waitMs how long until an engine is tried again, milliseconds */
  constructor(waitMs: number) {
    super(
      openAiError(503, 'engine-unreachable', 'the engines failed again and again; they are left alone for a moment'),
      503,
    );
    this.retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
  }
}
