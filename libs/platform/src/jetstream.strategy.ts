import { Server, type CustomTransportStrategy, type MessageHandler } from '@nestjs/microservices';
import { contracts, type AppName } from '@hindcast/contracts';
import { handlerMistakes } from './core/handled';
import { SubjectConsumer, type ConsumerTiming, type Services } from './subject-consumer';

/** Options of a handler: `@EventPattern(subject, { concurrency: 64 })`. */
export interface HandlerExtras {
  /** Messages in flight at once in this process. Default 16. */
  readonly concurrency?: number;
  /** Deliveries after which a message is dead-lettered, where this handler needs more than `MAX_DELIVERIES`. */
  readonly maxDeliveries?: number;
  /** The handler only waits for others: at shutdown its messages go back at once instead of being waited for. */
  readonly waits?: boolean;
}

export interface StrategyOptions {
  readonly app: AppName;
  readonly maxDeliveries: number;
  readonly timing: ConsumerTiming;
}

/** JetStream under Nest's `@EventPattern`: one durable pull consumer per handled subject. */
export class JetStreamStrategy extends Server implements CustomTransportStrategy {
  private consumers: SubjectConsumer[] = [];

  constructor(
    private readonly options: StrategyOptions,
    private readonly services: Services,
  ) {
    super();
  }

  /** Mistakes that must stop the start: see {@link handlerMistakes}. */
  mistakes(): string[] {
    const { app } = this.options;
    const own = Object.values(contracts).filter((contract) => (contract.handlers as readonly AppName[]).includes(app));
    return handlerMistakes(
      app,
      own.map((contract) => contract.subject),
      this.messageHandlers,
    );
  }

  listen(done: (error?: unknown) => void): void {
    this.consumers = [...this.messageHandlers].map(([subject, handler]) => this.consumerOf(subject, handler));
    for (const consumer of this.consumers) consumer.start();
    done();
  }

  /** Stops taking messages, lets handlers in flight finish for up to `limitMs`, gives the rest back. */
  async drain(limitMs: number): Promise<void> {
    await Promise.all(this.consumers.map((consumer) => consumer.drain(limitMs)));
  }

  async close(): Promise<void> {
    await this.drain(0);
  }

  on(): void {
    throw new Error('the JetStream strategy emits no events; follow Nats instead');
  }

  unwrap<T>(): T {
    return this.services.nats as T;
  }

  private consumerOf(subject: string, handler: MessageHandler): SubjectConsumer {
    const extras = (handler.extras ?? {}) as HandlerExtras;
    return new SubjectConsumer(
      {
        app: this.options.app,
        subject,
        concurrency: extras.concurrency ?? 16,
        maxDeliveries: extras.maxDeliveries ?? this.options.maxDeliveries,
        waits: extras.waits ?? false,
        timing: this.options.timing,
      },
      handler,
      this.services,
    );
  }
}
