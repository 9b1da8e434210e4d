import { JetStreamApiError, type ApiError } from '@nats-io/jetstream';
import {
  TimeoutError,
  createInbox,
  errors,
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
} from '@nats-io/nats-core';

/** Time for the server to confirm that a message is stored. */
const ACK_TIMEOUT_MS = 5_000;

/** Where the server put a message. */
export interface Stored {
  readonly stream: string;
  readonly seq: number;
  /** A message of the same id was stored before. */
  readonly duplicate?: boolean;
}

interface Waiting {
  readonly subject: string;
  readonly until: number;
  readonly resolve: (stored: Stored) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Publishes to JetStream on one connection and waits for the server's word that a message is stored. The client's own `publish` takes
 * a timer and an error object for every message; here one timer watches over all that is waited for.
 */
export class AcknowledgedPublisher {
  private readonly inbox = createInbox();
  private readonly waiting = new Map<string, Waiting>();
  private count = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly connection: NatsConnection) {
    const subscription = connection.subscribe(`${this.inbox}.*`, {
      callback: (error, message) => {
        if (!error) this.take(message);
      },
    });
    void subscription.closed.then(() => this.giveUp(Infinity, () => new errors.ClosedConnectionError()));
  }

  /**
   * @throws TimeoutError when the server does not confirm; the message may be stored all the same
   * @throws NoRespondersError when no stream stores the subject
   * @throws JetStreamApiError when the server refuses, as where the expected sequence is another one
   */
  publish(subject: string, payload: string | Uint8Array, fields?: Readonly<Record<string, string>>): Promise<Stored> {
    return new Promise((resolve, reject) => {
      const token = String(++this.count);
      this.waiting.set(token, { subject, until: Date.now() + ACK_TIMEOUT_MS, resolve, reject });
      this.timer ??= setTimeout(() => this.watch(), ACK_TIMEOUT_MS).unref();
      try {
        this.connection.publish(subject, payload, { reply: `${this.inbox}.${token}`, ...headersOf(fields) });
      } catch (error) {
        this.waitedFor(token)?.reject(error);
      }
    });
  }

  private take(message: Msg): void {
    const waiting = this.waitedFor(message.subject.slice(this.inbox.length + 1));
    if (!waiting) return;
    if (message.data.length === 0 && message.headers?.code === 503)
      return waiting.reject(new errors.NoRespondersError(waiting.subject));
    try {
      const answer = message.json<Stored & { error?: ApiError }>();
      if (answer.error) waiting.reject(new JetStreamApiError(answer.error));
      else waiting.resolve(answer);
    } catch (error) {
      waiting.reject(error);
    }
  }

  private waitedFor(token: string): Waiting | null {
    const waiting = this.waiting.get(token) ?? null;
    this.waiting.delete(token);
    return waiting;
  }

  private watch(): void {
    this.giveUp(Date.now(), () => new TimeoutError());
    const oldest = this.waiting.values().next().value;
    this.timer = oldest ? setTimeout(() => this.watch(), Math.max(1, oldest.until - Date.now())).unref() : null;
  }

  /** They are in the order of their times. */
  private giveUp(now: number, error: () => Error): void {
    for (const [token, { until, reject }] of this.waiting) {
      if (until > now) return;
      this.waiting.delete(token);
      reject(error());
    }
  }
}

function headersOf(fields: Readonly<Record<string, string>> | undefined): { headers?: MsgHdrs } {
  if (!fields) return {};
  const set = headers();
  for (const name in fields) set.set(name, fields[name]!);
  return { headers: set };
}
