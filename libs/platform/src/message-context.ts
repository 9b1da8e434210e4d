import { BaseRpcContext } from '@nestjs/microservices';

/** What a handler can know of the delivery that it works on: `@Ctx() context: MessageContext`. */
export class MessageContext extends BaseRpcContext<[]> {
  constructor(
    /** Concrete subject, also where the pattern has a wildcard. */
    readonly subject: string,
    /** Position in the stream: grows with the time of publication. */
    readonly streamSequence: number,
    /** 1 at the first delivery. */
    readonly deliveries: number,
    /** `<stage>.<turnId>` as the publisher set it. */
    readonly messageId: string | null,
    /** Aborted when the service drains. A handler that only waits then throws `DependencyUnavailable`, and the message goes back. */
    readonly shutdown: AbortSignal,
  ) {
    super([]);
  }
}
