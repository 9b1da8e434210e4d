/** Kinds of refusals, as vLLM names them in `error.type`, with their HTTP status. */
const statusOf = {
  BadRequestError: 400,
  InvalidUserInput: 400,
  NotFoundError: 404,
  InternalServerError: 500,
} as const;

/** A request that is refused, in vLLM's words. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  constructor(
    readonly type: keyof typeof statusOf,
    message: string,
    readonly param: string | null = null,
  ) {
    super(message);
  }

  get status(): number {
    return statusOf[this.type];
  }

  /** The body of the answer. */
  toJSON(): object {
    return { error: { message: this.message, type: this.type, param: this.param, code: this.status } };
  }
}
