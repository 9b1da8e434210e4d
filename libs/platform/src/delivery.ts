import {
  ContractViolation,
  DependencyUnavailable,
  contractOf,
  deadSubject,
  messageSchema,
  readNewer,
  type Reading,
  type DeadLetter,
  type Envelope,
  type ErrorCode,
} from '@hindcast/contracts';
import type { JsMsg } from '@nats-io/jetstream';
import { lastValueFrom, isObservable, type Observable } from 'rxjs';
import { z } from 'zod';
import type { Attempts } from './attempts';
import type { Bus } from './bus';
import { backoffMs } from './core/backoff';
import { exhausted, settlementOf } from './core/settlement';
import { crashPoint } from './crash-point';
import { deadLetters, newerMessages, settledMessages, type Outcome } from './delivery-metrics';
import { deliverySpan } from './delivery-span';
import type { Log, LogContext } from './log';
import { MessageContext } from './message-context';
import type { Metrics } from './metrics';
import type { ConsumerTiming } from './subject-consumer';
import type { Nats } from './nats';
import { NO_SPAN, isTracing, within, type Span } from './tracing';

export type Handler = (message: unknown, context: MessageContext) => Promise<Observable<unknown> | unknown>;

interface DeliveryOptions {
  readonly durable: string;
  readonly stream: string;
  readonly maxDeliveries: number;
  readonly timing: ConsumerTiming;
  readonly shutdown: AbortSignal;
  readonly nats: Nats;
  readonly bus: Bus;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly attempts: Attempts;
}

type Message = Envelope<unknown>;

/** One message in the hands of this process, from its arrival to its acknowledgement, return or burial. */
export class Delivery {
  /** Resolves once the message is settled; never rejects. */
  readonly settled: Promise<void>;
  private message: JsMsg;
  private readonly incarnation: string | null;
  private deliveries = 1;
  private returned = false;
  private ids: LogContext = {};
  private wakeUp: () => void = () => undefined;
  private span: Span = NO_SPAN;

  constructor(
    message: JsMsg,
    private readonly handler: Handler,
    private readonly options: DeliveryOptions,
  ) {
    this.message = message;
    this.incarnation = options.nats.incarnation(options.stream);
    this.settled = this.run();
  }

  /** Tells the server that the handler is still at work. */
  beat(): void {
    if (!this.returned && this.options.nats.connected) this.message.working();
  }

  /** The service shuts down: whoever waits for a dependency waits no longer. */
  stopWaiting(): void {
    this.wakeUp();
  }

  /** A newer delivery of the same message takes the place of this one. */
  renew(message: JsMsg): void {
    this.message = message;
    message.working();
  }

  /** Gives the message back although its handler still runs; what the handler does then no longer counts. */
  giveBack(): void {
    if (this.returned) return;
    this.returned = true;
    // Away from the server there is nobody to tell: it comes again when its acknowledgement wait is over.
    if (this.options.nats.connected) this.message.nak();
    this.count('returned');
    this.span.end();
  }

  /**
   * Tells the server, once it can be reached. Never to a stream that was created anew meanwhile, where the same sequence is
   * another message.
   */
  private async settle(outcome: Outcome, tell: (message: JsMsg) => void): Promise<void> {
    const { nats, stream, shutdown } = this.options;
    if (!nats.connected) await Promise.race([nats.whenConnected(), aborted(shutdown)]);
    if (this.returned) return;
    if (nats.connected && nats.incarnation(stream) === this.incarnation) tell(this.message);
    this.count(outcome);
  }

  private async run(): Promise<void> {
    const parsed = this.parse();
    this.deliveries = await this.countDelivery();
    if (parsed.ok) this.ids = idsOf(parsed.message);
    try {
      if (!parsed.ok) return await this.bury('contract-violation', parsed.error, null);
      const tooOften = this.isDeadLetter ? null : exhausted(this.deliveries, this.options.maxDeliveries);
      if (tooOften) return await this.bury(tooOften.code, tooOften, parsed.message);
      if (!isTracing()) return await this.handle(parsed.message);
      this.span = deliverySpan(this.message, this.options.durable, this.deliveries, parsed.message.turnId);
      await within(this.span, () => this.handle(parsed.message));
    } catch (error) {
      // Settling itself failed: the message comes again when its acknowledgement wait is over.
      this.log('error', 'message.unsettled', { error });
    }
  }

  /** Lines carry the message's ids by hand: an async context costs every promise of the process on Node 20. */
  private log(level: 'debug' | 'warn' | 'error', event: string, fields: object): void {
    this.options.log[level](event, { ...this.ids, subject: this.message.subject, ...fields });
  }

  private countDelivery(): Promise<number> {
    const { info, time } = this.message;
    const { attempts, durable, timing } = this.options;
    // Younger than the acknowledgement wait and delivered once: no dead worker can have had it before.
    const fresh = info.deliveryCount === 1 && Date.now() - time.getTime() < timing.ackWaitMs / 2;
    const key = `${durable}.${info.streamSequence}.${info.timestampNanos}`;
    return attempts.next(key, { serverCount: info.deliveryCount, fresh });
  }

  private parse(): { ok: true; message: Message } | { ok: false; error: ContractViolation } {
    const { subject } = this.message;
    const name = contractOf(subject);
    if (!name) return { ok: false, error: new ContractViolation(subject, 'no contract has this subject') };
    let parsed: Reading<Message>;
    try {
      parsed = readNewer(messageSchema(name), this.message.json()) as Reading<Message>;
    } catch (cause) {
      return { ok: false, error: new ContractViolation(subject, 'not JSON that can be read', { cause }) };
    }
    if (!parsed.success) return { ok: false, error: new ContractViolation(subject, z.prettifyError(parsed.error)) };
    if (parsed.unknown.length > 0) newerMessages(this.options.metrics).inc({ subject });
    return { ok: true, message: parsed.data };
  }

  /** Calls the handler, again and again while a dependency is away. */
  private async handle(message: Message): Promise<void> {
    for (let attempt = 1; !this.returned; attempt++) {
      const outcome = await this.call(message);
      if (this.returned) return;
      const settlement = settlementOf(outcome);
      if (settlement.kind === 'ack') {
        crashPoint('before-ack');
        // Not waited for: a lost acknowledgement means one more delivery, which handlers must bear anyway.
        return this.settle('acked', (current) => current.ack());
      }
      const error = outcome.ok ? undefined : outcome.error;
      if (settlement.kind === 'bury') return this.bury(settlement.code, error, message);
      if (settlement.kind === 'retry') return this.retry(error);
      await this.wait(attempt, settlement.retryAfterMs, error);
      if (this.options.shutdown.aborted) return this.giveBack();
    }
  }

  private async call(message: Message): Promise<{ ok: true } | { ok: false; error: unknown }> {
    const { info, subject, headers } = this.message;
    const context = new MessageContext(
      subject,
      info.streamSequence,
      this.deliveries,
      headers?.get('Nats-Msg-Id') || null,
      this.options.shutdown,
    );
    try {
      const result = await this.handler(message, context);
      if (isObservable(result)) await lastValueFrom(result, { defaultValue: undefined });
      return { ok: true };
    } catch (error) {
      return { ok: false, error };
    }
  }

  private async retry(error: unknown): Promise<void> {
    const { timing } = this.options;
    const delayMs = backoffMs(this.deliveries, timing.retryBaseMs, timing.retryMaxMs, Math.random());
    this.log('warn', 'message.failed', { deliveries: this.deliveries, delayMs, error });
    this.span.fail(error);
    await this.settle('retried', (current) => current.nak(delayMs));
  }

  private async wait(attempt: number, retryAfterMs: number, error: unknown): Promise<void> {
    const { timing, shutdown } = this.options;
    const longestMs = Math.max(retryAfterMs, timing.waitMaxMs);
    const delayMs = Math.max(retryAfterMs, backoffMs(attempt, retryAfterMs, longestMs, Math.random()));
    // Once per message: a long outage is not news each time.
    this.log(attempt === 1 ? 'warn' : 'debug', 'message.waiting', { attempt, delayMs, error });
    this.count('waited');
    if (shutdown.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      this.wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.wakeUp = () => undefined;
  }

  /** Stores a dead letter, and only then acknowledges the message. */
  private async bury(code: ErrorCode, error: unknown, message: Message | null): Promise<void> {
    const { metrics } = this.options;
    const { subject } = this.message;
    // A dead letter of a dead letter would breed for ever. It stays readable in its own stream.
    if (this.isDeadLetter) {
      this.log('error', 'dead-letter.unreadable', { error });
      return this.settle('terminated', (current) => current.term());
    }
    try {
      await this.storeDeadLetter(code, error, message);
    } catch (failure) {
      if (!(failure instanceof DependencyUnavailable)) this.log('error', 'dead-letter.not-stored', { error: failure });
      return this.retry(failure);
    }
    this.log('error', 'message.dead', { code, deliveries: this.deliveries, error });
    this.span.fail(code);
    await this.settle('dead', (current) => current.ack());
    deadLetters(metrics).inc({ subject, code });
  }

  private async storeDeadLetter(code: ErrorCode, error: unknown, message: Message | null): Promise<void> {
    const { durable, stream, bus, nats } = this.options;
    const { subject, info, headers, data } = this.message;
    const why = error instanceof Error ? error.message : String(error);
    // base64 needs a third more; what then exceeds the server's limit stays in its stream only.
    const fits = data.length * 1.4 + 4_096 < nats.maxPayload;
    const body: DeadLetter = {
      subject,
      consumer: durable,
      code,
      error: (fits ? why : `payload of ${data.length} bytes kept in ${stream} at ${info.streamSequence}: ${why}`).slice(
        0,
        2_000,
      ),
      deliveries: this.deliveries,
      messageId: headers?.get('Nats-Msg-Id') || null,
      payload: fits ? Buffer.from(data).toString('base64') : '',
    };
    const envelope = {
      v: 1,
      turnId: message?.turnId ?? null,
      tenant: message?.tenant ?? 'unknown',
      at: Date.now(),
      body,
    };
    const id = `dead.${durable}.${info.streamSequence}.${info.timestampNanos}`;
    await bus.store(deadSubject(subject), id, JSON.stringify(messageSchema('dead').parse(envelope)));
  }

  private get isDeadLetter(): boolean {
    return contractOf(this.message.subject) === 'dead';
  }

  private count(outcome: Outcome): void {
    settledMessages(this.options.metrics).inc({ subject: this.message.subject, outcome });
    this.span.set({ 'hindcast.message.outcome': outcome });
  }
}

function idsOf({ turnId, body }: Message): LogContext {
  const { sessionId, policyVersion } = body as { sessionId?: string | null; policyVersion?: number };
  return {
    ...(turnId !== null && { turnId }),
    ...(sessionId !== undefined && { sessionId }),
    ...(policyVersion !== undefined && { policyVersion }),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
