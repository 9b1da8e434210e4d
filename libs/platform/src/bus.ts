import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import {
  ContractViolation,
  DependencyUnavailable,
  HindcastError,
  commands,
  contracts,
  isCapturedMessage,
  messageSchema,
  queries,
  readNewer,
  surveys,
  type BodyOf,
  type ContractName,
  type Envelope,
  type QueryName,
  type SurveyName,
} from '@hindcast/contracts';
import { PubHeaders } from '@nats-io/jetstream';
import { errors, headers, type Msg, type NatsConnection, type Subscription } from '@nats-io/nats-core';
import { z } from 'zod';
import { Log } from './log';
import { Nats } from './nats';
import { ReplyTooLarge, readReply, sendReply } from './long-reply';
import { activeSpan, startSpan, type SpanAttributes, type SpanParent } from './tracing';
import { Survey, type SurveyAnswer, type SurveyQuestion } from './survey';

/** Time for the ledger to answer; a caller waits less than two seconds in all. */
const QUERY_TIMEOUT_MS = 1_500;
/** What a person orders is done, whether or not anybody still waits for it: to be told so is worth more patience. */
const COMMAND_TIMEOUT_MS = 10_000;
/** Time for the server to hear that a query is no longer answered here. */
const LEAVE_MS = 1_000;
const ERROR_HEADER = 'Nats-Service-Error';
/** Code of an error that whoever asked can mend; what it says is for him. */
const CODE_HEADER = 'Nats-Service-Error-Code';

export type QueryOf<Q extends QueryName> = z.infer<(typeof queries)[Q]['request']>;
export type ReplyOf<Q extends QueryName> = z.infer<(typeof queries)[Q]['reply']>;

/** Subjects of one kind that this process answers. */
interface Listening {
  readonly subscriptions: Set<Subscription>;
  /** It answers no more, on no later connection either. */
  hasLeft: boolean;
}

/** Publishes what the contracts name, asks and answers the ledger's queries, and the surveys that every process answers. */
@Injectable()
export class Bus {
  private readonly questions: Listening = { subscriptions: new Set(), hasLeft: false };
  private readonly surveyed: Listening = { subscriptions: new Set(), hasLeft: false };
  private readonly answers = new Set<Promise<void>>();
  private readonly asked = new Map<SurveyName, Survey<SurveyName>>();

  constructor(
    private readonly app: string,
    private readonly nats: Nats,
    private readonly log: Log,
  ) {}

  /**
   * Stores one message and returns once the server confirmed it. The server drops a second one with the same id
   * (`<stage>.<turnId>` when none is given) within its duplicate window, and that counts as stored. Its headers carry the trace that it
   * is part of: the one given, or that of the caller.
   *
   * @throws ContractViolation when the message breaks its schema or is larger than the server takes
   * @throws DependencyUnavailable when NATS is away or does not confirm; the message may be stored all the same
   */
  async publish<N extends ContractName>(
    name: N,
    message: { turnId: string | null; tenant: string; body: BodyOf<N>; id?: string; trace?: SpanParent },
  ): Promise<void> {
    const { subject, stage } = contracts[name];
    const { turnId, tenant, body } = message;
    const json = messageJson(name, { v: 1, turnId, tenant, at: Date.now(), body });
    const id = message.id ?? (turnId === null ? null : `${stage}.${turnId}`);
    if (id === null) throw new ContractViolation(subject, 'a message without a turn needs an id of its own');
    await this.store(subject, id, json, message.trace);
  }

  /**
   * As {@link publish}, for a body that was just made of validated parts: it is not read once more, which takes longer than all else.
   * Its handlers read it.
   *
   * @throws ContractViolation when the message is larger than the server takes
   * @throws DependencyUnavailable as {@link publish}
   */
  async publishMade<N extends ContractName>(
    name: N,
    { turnId, tenant, body, trace }: { turnId: string; tenant: string; body: BodyOf<N>; trace?: SpanParent },
  ): Promise<void> {
    const { subject, stage } = contracts[name];
    const message = { v: 1, turnId, tenant, at: Date.now(), body };
    await this.store(subject, `${stage}.${turnId}`, JSON.stringify(message), trace);
  }

  /** Stores bytes that were validated already under a concrete subject. */
  async store(subject: string, id: string, payload: string, trace: SpanParent = activeSpan()): Promise<void> {
    const bytes = Buffer.byteLength(payload);
    const publisher = this.nats.publisher();
    if (bytes > this.nats.maxPayload) {
      throw new ContractViolation(subject, `${bytes} bytes are more than the ${this.nats.maxPayload} that NATS takes`);
    }
    const span = startSpan(`publish ${subject}`, { kind: 'producer', attributes: published(subject, id) }, trace);
    try {
      await publisher.publish(subject, payload, { [PubHeaders.MsgIdHdr]: id, ...span.context });
    } catch (cause) {
      span.fail(cause);
      // Nobody listens to the subject: its stream is gone, as after a restart with an empty store.
      if (cause instanceof errors.NoRespondersError || cause instanceof errors.RequestError) this.nats.refresh();
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new DependencyUnavailable('nats', `${subject} not stored: ${reason}`, undefined, { cause });
    } finally {
      span.end();
    }
  }

  /**
   * @throws HindcastError `ledger-unavailable` when nobody answers in time, or with an answer that breaks its schema; `invalid-request`
   *   when the ledger says so of the question
   */
  async request<Q extends QueryName>(query: Q, body: QueryOf<Q>): Promise<ReplyOf<Q>> {
    const { subject, request, reply } = queries[query];
    const question = request.parse(body);
    const timeout = commands.has(query) ? COMMAND_TIMEOUT_MS : QUERY_TIMEOUT_MS;
    let answer: Msg;
    try {
      answer = await this.nats.connection().request(subject, JSON.stringify(question), { timeout });
    } catch (cause) {
      throw new HindcastError('ledger-unavailable', 'the ledger does not answer', { cause });
    }
    const failure = answer.headers?.get(ERROR_HEADER);
    if (failure) {
      const isInvalid = answer.headers?.get(CODE_HEADER) === INVALID;
      throw new HindcastError(isInvalid ? INVALID : 'ledger-unavailable', failure);
    }
    const parsed = readNewer(reply, await readReply(answer));
    if (!parsed.success) {
      throw new HindcastError(
        'ledger-unavailable',
        `the ledger's answer breaks its schema: ${z.prettifyError(parsed.error)}`,
      );
    }
    return parsed.data as ReplyOf<Q>;
  }

  /** Answers a query, shared with the app's other processes, from now on and after every reconnection. */
  respond<Q extends QueryName>(query: Q, handler: (body: QueryOf<Q>) => Promise<ReplyOf<Q>>): void {
    this.listen(this.questions, queries[query].subject, this.app, (message) => this.answer(query, message, handler));
  }

  /** Answers a survey for this process, whoever else does, from now on and after every reconnection. */
  answerSurvey<S extends SurveyName>(name: S, answer: () => Promise<SurveyAnswer<S>>): void {
    const { subject, request, reply } = surveys[name];
    this.listen(this.surveyed, subject, null, async (message) => {
      if (!message.reply || !readNewer(request, parseJson(message)).success) return;
      try {
        message.respond(JSON.stringify(reply.parse(await answer())));
      } catch (error) {
        this.log.error('survey.failed', { survey: name, error });
      }
    });
  }

  /**
   * Asks a survey of every process on the bus. A service whose dependencies hang takes a second to say so: who waits less does not hear
   * of it.
   *
   * @param waitMs when it ends, at the latest; earlier when everybody who answered last time has
   * @returns one valid answer for each process, at most 256, by app and instance; none when nobody listens
   * @throws DependencyUnavailable while NATS is away
   */
  async gather<S extends SurveyName>(name: S, body: SurveyQuestion<S>, waitMs: number): Promise<SurveyAnswer<S>[]> {
    let survey = this.asked.get(name);
    if (!survey) this.asked.set(name, (survey = new Survey<SurveyName>(name)));
    return (survey as Survey<S>).gather(this.nats.connection(), body, waitMs);
  }

  /** Answers no survey any more. */
  leaveSurveys(): void {
    this.surveyed.hasLeft = true;
    for (const subscription of this.surveyed.subscriptions) subscription.unsubscribe();
  }

  /** Leaves the queries to the app's other processes; what was asked already is answered. */
  async stopAnswering(): Promise<void> {
    this.questions.hasLeft = true;
    const left = [...this.questions.subscriptions].map((subscription) => subscription.drain().catch(() => undefined));
    // While NATS is away nobody hears of it.
    await Promise.race([Promise.all(left), sleep(LEAVE_MS, undefined, { ref: false })]);
    await Promise.all(this.answers);
  }

  private listen(
    listening: Listening,
    subject: string,
    queue: string | null,
    handle: (message: Msg) => Promise<void>,
  ): void {
    const subscribed = new WeakSet<NatsConnection>();
    this.nats.onConnected((connection) => {
      // The client itself subscribes again when the same connection comes back.
      if (!subscribed.has(connection) && !listening.hasLeft) {
        subscribed.add(connection);
        const subscription = connection.subscribe(subject, {
          ...(queue !== null && { queue }),
          callback: (error, message) => {
            if (error) return;
            const answer = handle(message).finally(() => this.answers.delete(answer));
            this.answers.add(answer);
          },
        });
        listening.subscriptions.add(subscription);
        void subscription.closed.then(() => listening.subscriptions.delete(subscription));
      }
      return Promise.resolve();
    });
  }

  private async answer<Q extends QueryName>(
    query: Q,
    message: Msg,
    handler: (body: QueryOf<Q>) => Promise<ReplyOf<Q>>,
  ): Promise<void> {
    const { subject, request, reply } = queries[query];
    try {
      const question = readNewer(request, parseJson(message));
      if (!question.success) throw new ContractViolation(subject, z.prettifyError(question.error));
      const answer = reply.parse(await handler(question.data as QueryOf<Q>));
      await sendReply(message, JSON.stringify(answer), this.nats.maxPayload);
    } catch (error) {
      const failure = headers();
      if (error instanceof HindcastError && error.code === INVALID) {
        failure.set(ERROR_HEADER, error.message);
        failure.set(CODE_HEADER, INVALID);
        return void message.respond('{}', { headers: failure });
      }
      this.log.error('query.failed', { query, error });
      failure.set(ERROR_HEADER, failureText(error));
      message.respond('{}', { headers: failure });
    }
  }
}

/** @throws ContractViolation */
function messageJson<N extends ContractName>(name: N, message: Envelope<BodyOf<N>>): string {
  if (name === 'turnCaptured' && isCapturedMessage(message as Envelope<BodyOf<'turnCaptured'>>))
    return JSON.stringify(message);
  const parsed = messageSchema(name).safeParse(message);
  if (!parsed.success) throw new ContractViolation(contracts[name].subject, z.prettifyError(parsed.error));
  return JSON.stringify(parsed.data);
}

const INVALID = 'invalid-request';

/** What whoever asked is told; what else is wrong is in the log. */
function failureText(error: unknown): string {
  if (error instanceof ReplyTooLarge) return error.message;
  return error instanceof ContractViolation ? 'the question breaks its schema' : 'the ledger failed';
}

const published = (subject: string, id: string): SpanAttributes => ({
  'messaging.system': 'nats',
  'messaging.operation.name': 'publish',
  'messaging.operation.type': 'send',
  'messaging.destination.name': subject,
  'messaging.message.id': id,
});

function parseJson(message: Msg): unknown {
  try {
    return message.json();
  } catch {
    return undefined;
  }
}
