import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { CONFIG, Log, RequestMemory, requestSpan, type LogContext, type Span } from '@hindcast/platform';
import type { FastifyReply } from 'fastify';
import { Stop } from './abort';
import { AnswerRecorder, isComplete, sha256 } from './answer-recorder';
import { AnswerStream, HOLD_MS, type StreamEnding } from './answer-stream';
import { callerOf } from './api-key.guard';
import { atMost } from './at-most';
import { wholeBody } from './broken-answer';
import { ClientConnection } from './client-connection';
import type { GatewayConfig } from './config';
import { Conversations } from './conversations';
import { outcomeOf, type AnswerContext, type EndedTurn } from './core/answer-record';
import type { ClientFormat } from './core/client-format';
import { roomIn } from './core/answer-json';
import { endUser } from './core/end-user';
import { engineRequest, withoutLogProbs, type EngineRequest } from './core/engine-request';
import { samplingOf } from './core/off-policy';
import { checkRequest, choicesOf, type ChatRequest } from './core/request-check';
import { prefixIdentities, type PrefixIdentity } from './core/request-identity';
import { rewardFields } from './core/reward-fields';
import { sessionFields, type SkipReason } from './core/session-fields';
import { readWhole } from './core/whole-answer';
import { ErrorReplies } from './error-replies';
import { GatewayMetrics } from './gateway-metrics';
import { KeyLimits } from './key-limits';
import { PolicyRouter, type AnswerVersion, type RoutedAnswer } from './policy-router';
import { SessionIdentity } from './session-identity';
import { streamHeaders, turnHeaders } from './turn-headers';

/** How long the end of the process waits for what requests still write down. NATS and the disk have their own, shorter limits. */
const WRITE_DOWN_MS = 5_000;

const JSON_TYPE = 'application/json; charset=utf-8';

export interface ChatCall {
  readonly tenant: string;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly format: ClientFormat;
  /** The end user, where the format names it elsewhere than chat. */
  readonly user?: string | null;
  /** Of the request, where it has some already. */
  readonly memory?: RequestMemory;
}

/** What one request needs on its way. */
interface Exchange {
  readonly call: ChatCall;
  readonly request: ChatRequest;
  readonly sent: EngineRequest;
  readonly sessionId: string | null;
  /** What else is kept with its turns. */
  readonly kept: Pick<AnswerContext, 'userId' | 'outcomePending' | 'groundTruth'>;
  readonly prompt: PrefixIdentity;
  /** Why nothing of it is captured; `null`: it is. */
  readonly skipped: SkipReason | null;
  /** Ids of the turns, by choice; of an answer that is no turn all the same. */
  readonly turnIds: readonly string[];
  /** Of every line that is logged about it. */
  readonly ids: LogContext;
  /** The request in its trace. */
  readonly span: Span;
  /** Its session, or else how its conversation began. */
  readonly stickyTo: string;
  readonly reply: FastifyReply;
  readonly client: ClientConnection;
  /** Settles once every gateway knows that it was asked; `null` without a session, which is all that remembers it. */
  readonly remembered: Promise<void> | null;
  readonly memory: RequestMemory;
}

/** Answers chat completions: pairs what the request continues, asks the engine, hands the answer on, has it written down. */
@Injectable()
export class Chat implements BeforeApplicationShutdown {
  /** Requests whose last byte may have been sent already, while something about them is still being written down. */
  private readonly underWay = new Set<Promise<void>>();

  constructor(
    @Inject(CONFIG) private readonly config: GatewayConfig,
    private readonly router: PolicyRouter,
    private readonly conversations: Conversations,
    private readonly recorder: AnswerRecorder,
    private readonly sessions: SessionIdentity,
    private readonly errors: ErrorReplies,
    private readonly limits: KeyLimits,
    private readonly metrics: GatewayMetrics,
    private readonly log: Log,
  ) {}

  answer(call: ChatCall, reply: FastifyReply): Promise<void> {
    const { memory = new RequestMemory() } = call;
    const answered = this.answerOne(call, reply, memory).finally(() => {
      this.underWay.delete(answered);
      void memory.giveBack();
    });
    this.underWay.add(answered);
    return answered;
  }

  /** No connection is open any more. What is still to be written down of their requests is on NATS or on disk before the rest ends. */
  async beforeApplicationShutdown(): Promise<void> {
    await atMost(
      WRITE_DOWN_MS,
      Promise.allSettled(this.underWay).then(() => undefined),
    );
  }

  private async answerOne(call: ChatCall, reply: FastifyReply, memory: RequestMemory): Promise<void> {
    const checked = checkRequest(call.body);
    if (!checked.ok) return this.errors.invalid(call.format, reply, checked.message, checked.param);
    const { request } = checked;
    const fields = sessionFields(call.headers, request, this.config.DEFAULT_TURN_TYPE);
    const rewarded = rewardFields(call.headers, request, fields.rawSessionId !== null);
    if (!rewarded.ok) return this.errors.invalid(call.format, reply, rewarded.message, rewarded.param);
    const { skipped } = fields;
    const sessionId = this.sessions.sessionId(call.tenant, fields.rawSessionId);
    const named = call.user == null ? request : { ...request, user: call.user };
    const identities = prefixIdentities(call.tenant, named, sha256);
    const turnIds = Array.from({ length: choicesOf(request) }, () => randomUUID());
    const exchange: Omit<Exchange, 'remembered'> = {
      call,
      request,
      sent: engineRequest(request, {
        dialect: this.config.POLICY_DIALECT,
        isCaptured: skipped === null,
        isCounted: this.limits.counts(callerOf(reply.request)),
        forceSampling: this.config.SAMPLING === 'force',
        recoversIds: this.config.POLICY_TOKENIZER_DIR !== undefined,
      }),
      sessionId,
      kept: { userId: this.sessions.userId(call.tenant, endUser(named)), ...rewarded.fields },
      prompt: identities.at(-1)!,
      skipped,
      turnIds,
      ids: { sessionId, ...(skipped === null && { turnId: turnIds[0]! }) },
      span: requestSpan(reply.request),
      stickyTo: sessionId ?? (identities.find(({ length }) => length > 0) ?? identities[0]!).conversation,
      reply,
      client: new ClientConnection(reply.raw, this.config.CLIENT_TIMEOUT_MS),
      memory,
    };
    const { context: trace } = exchange.span;
    if (trace !== null && skipped === null) exchange.span.set({ 'hindcast.turn.id': turnIds[0]! });
    const continued =
      skipped === 'no-consent' ? null : this.conversations.continue(request, identities, sessionId, trace);
    try {
      await this.exchange({ ...exchange, remembered: sessionId === null ? null : continued });
    } finally {
      await continued;
      if (fields.isLast && sessionId !== null)
        await this.conversations.endSession(sessionId, 'the client ended the session');
    }
  }

  private async exchange(exchange: Exchange): Promise<void> {
    const { call, request, sent, turnIds, ids, span, stickyTo, client, reply } = exchange;
    const askedAt = performance.now();
    const abort = new Stop();
    let stream: AnswerStream | null = null;
    client.onGone(() => {
      // An answer that the engine has finished is complete: its last bytes are still read.
      if (!stream?.isFinished) abort.abort();
    });
    let routed: RoutedAnswer | null = null;
    try {
      const options = { ids, span, stickyTo };
      const send = (body: object) => this.router.call(request.model ?? null, body, call.headers, abort, options);
      routed = await send(sent.body);
      let refused = await this.refusal(routed);
      const plainer = refused && this.withoutLogProbs(sent, routed, refused);
      if (plainer) {
        routed.release();
        routed = await send(plainer);
        refused = await this.refusal(routed);
      }
      if (refused) return await this.errors.passOn(exchange, routed, refused);
      const { response } = routed;
      const type = String(response.headers['content-type'] ?? '');
      const isStream =
        type.includes('text/event-stream') || (request.stream === true && !type.includes('application/json'));
      if (!isStream) return await this.passWhole(exchange, routed);
      const format = call.format.stream(sent.asked, turnIds[0]!);
      const room = roomIn(exchange.memory);
      const { POLICY_API_KEY: key } = this.config;
      stream = new AnswerStream(client, streamHeaders(exchange), format, turnIds.length, room, key);
      reply.hijack();
      await this.passStream(exchange, routed, stream);
    } catch (error) {
      if (client.isGone) return void this.metrics.request(499);
      await this.errors.refuse(exchange, error);
    } finally {
      routed?.release();
      this.metrics.timed(askedAt, client.startedAt, request.stream === true);
    }
  }

  /** What the engine says instead of an answer. */
  private async refusal(routed: RoutedAnswer): Promise<Buffer | null> {
    return routed.response.statusCode === 200 ? null : wholeBody(routed);
  }

  private withoutLogProbs(sent: EngineRequest, { response }: RoutedAnswer, refused: Buffer): object | null {
    if (this.config.POLICY_DIALECT !== 'openai') return null;
    return withoutLogProbs(sent, response.statusCode, refused.toString('utf8'));
  }

  private async passStream(exchange: Exchange, routed: RoutedAnswer, stream: AnswerStream): Promise<void> {
    await stream.relay(routed.response.body, (ending) => this.record(exchange, routed, ending));
    // Stops an engine that goes on after a broken event.
    routed.response.body.destroy();
    this.metrics.request(200);
  }

  private async passWhole(exchange: Exchange, routed: RoutedAnswer): Promise<void> {
    const { call, sent, turnIds, reply, client, memory } = exchange;
    const bytes = await wholeBody(routed);
    const answer = readWhole(bytes, turnIds.length, sent.asked, roomIn(memory));
    const { answers } = answer;
    let written: Buffer;
    try {
      written = call.format.whole(answer, sent.asked, turnIds[0]!);
      // It may be what the engine sent, whose memory goes back.
      if (written.buffer === bytes.buffer) written = Buffer.from(written);
    } catch (error) {
      const detail = 'the answer cannot be said in the format of the client';
      await this.record(exchange, routed, { outcome: 'failed', answers, detail });
      throw error;
    } finally {
      routed.response.body.giveBack();
    }
    const stored = this.record(exchange, routed, { outcome: 'complete', answers, detail: 'complete' });
    await atMost(HOLD_MS, stored);
    this.metrics.request(client.isGone ? 499 : 200);
    if (client.isGone) return;
    // Past Fastify's way of sending, which waits for the last byte to be taken.
    reply.hijack();
    const headers = { 'content-type': JSON_TYPE, 'content-length': written.length, ...turnHeaders(exchange) };
    reply.raw.writeHead(200, headers).end(written);
  }

  /** Every choice is a turn. The next gateway that sees one in the history of its session is to know that it was asked for. */
  private async record(exchange: Exchange, routed: RoutedAnswer, ending: StreamEnding): Promise<void> {
    // Before all that may fail or take time, so that no count of what became of them is ahead of theirs.
    if (exchange.skipped === null)
      for (const answer of ending.answers)
        this.metrics.answerEnded(isComplete(answer, outcomeOf(answer, ending.outcome)) ? 'complete' : 'failed');
    const written = this.writeDownSafely(exchange, routed, ending);
    exchange.memory.isReadBy(written);
    await Promise.all([written, exchange.remembered]);
  }

  private async writeDownSafely(exchange: Exchange, routed: RoutedAnswer, ending: StreamEnding): Promise<void> {
    try {
      await this.writeDown(exchange, routed, ending);
    } catch (error) {
      // A fault of ours costs the capture, never the answer.
      this.log.error('turn.uncaptured', { ...exchange.ids, error });
      if (exchange.skipped === null) for (const _ of ending.answers) this.metrics.uncaptured('internal');
    }
  }

  private async writeDown(exchange: Exchange, routed: RoutedAnswer, ending: StreamEnding): Promise<void> {
    const { skipped, turnIds, prompt, sessionId } = exchange;
    this.limits.charge(callerOf(exchange.reply.request), ending.answers[0], ending.tokensSeen);
    const messages = ending.answers.map(({ message }) => message);
    this.conversations.given(prompt, sessionId, messages);
    if (skipped !== null) return this.metrics.skip(skipped);
    const version = await this.router.version(routed, ending.answers[0]?.model ?? null);
    const turns = ending.answers.map((answer, index): EndedTurn => {
      const context = this.contextOf(exchange, turnIds[index]!, routed, version);
      return { context, answer, outcome: outcomeOf(answer, ending.outcome), detail: ending.detail };
    });
    await this.recorder.record(prompt, turns);
  }

  private contextOf(
    { call, sessionId, kept, request, sent, span }: Exchange,
    turnId: string,
    routed: RoutedAnswer,
    answered: AnswerVersion,
  ): AnswerContext {
    return {
      turnId,
      tenant: call.tenant,
      sessionId,
      ...kept,
      responseId: call.format.responseId(turnId),
      request,
      model: routed.model,
      policyVersion: answered.version,
      ...(answered.version === null && { unknownVersion: answered.why }),
      dialect: this.config.POLICY_DIALECT,
      sampling: samplingOf(sent.body),
      sentBody: sent.body,
      trace: span.context,
    };
  }
}
