import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { CONFIG, Log, httpErrorOf, withLogContext } from '@hindcast/platform';
import type { FastifyReply } from 'fastify';
import { AnswerRecorder, sha256 } from './answer-recorder';
import { AnswerStream, EngineRefusal, HOLD_MS } from './answer-stream';
import { ClientConnection } from './client-connection';
import type { GatewayConfig } from './config';
import { readCompletion, type CompletedAnswer } from './core/answer';
import type { AnswerContext } from './core/answer-record';
import type { ClientFormat } from './core/client-format';
import { answerPositions, conversationHashes } from './core/canonical-conversation';
import { engineErrorResponse, errorBody, reportedBody, reportedStatus } from './core/engine-error';
import { engineRequest, type EngineRequest } from './core/engine-request';
import { pairTexts } from './core/judge-texts';
import { samplingOf } from './core/off-policy';
import { checkRequest, type ChatRequest } from './core/request-check';
import { sessionFields } from './core/session-fields';
import { engineError } from './engine-client';
import { GatewayMetrics } from './gateway-metrics';
import { PolicyRouter, type RoutedResponse } from './policy-router';
import { Redaction } from './redaction';
import { SessionIdentity } from './session-identity';
import { TurnJournal } from './turn-journal';

export interface ChatCall {
  readonly tenant: string;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly format: ClientFormat;
}

/** What one request needs on its way. */
interface Exchange {
  readonly call: ChatCall;
  readonly request: ChatRequest;
  readonly sent: EngineRequest;
  readonly sessionId: string | null;
  readonly promptHash: string;
  /** `null` for a side request: nothing of it is captured. */
  readonly turnId: string | null;
  /** The turn's id, or one for an answer that is no turn. */
  readonly answerId: string;
  readonly reply: FastifyReply;
  readonly client: ClientConnection;
}

/** Answers chat completions: pairs what the request continues, asks the engine, hands the answer on, has it written down. */
@Injectable()
export class Chat {
  constructor(
    @Inject(CONFIG) private readonly config: GatewayConfig,
    private readonly router: PolicyRouter,
    private readonly journal: TurnJournal,
    private readonly recorder: AnswerRecorder,
    private readonly sessions: SessionIdentity,
    private readonly redaction: Redaction,
    private readonly metrics: GatewayMetrics,
    private readonly log: Log,
  ) {}

  async answer(call: ChatCall, reply: FastifyReply): Promise<void> {
    const checked = checkRequest(call.body);
    if (!checked.ok) {
      const body = errorBody(checked.message, 'invalid_request_error', 'invalid-request', checked.param);
      return this.sendError(reply, 400, call.format.error(400, JSON.stringify(body)));
    }
    const { request } = checked;
    const fields = sessionFields(call.headers, request, this.config.DEFAULT_TURN_TYPE);
    const sessionId = this.sessions.sessionId(call.tenant, fields.rawSessionId);
    const hashes = conversationHashes(call.tenant, request.messages, sha256);
    const isMain = fields.turnType === 'main';
    const answerId = randomUUID();
    const exchange: Exchange = {
      call,
      request,
      sent: engineRequest(request, {
        dialect: this.config.POLICY_DIALECT,
        isCaptured: isMain,
        forceSampling: this.config.SAMPLING === 'force',
      }),
      sessionId,
      promptHash: hashes.at(-1)!,
      turnId: isMain ? answerId : null,
      answerId,
      reply,
      client: new ClientConnection(reply.raw),
    };
    const continued = this.continue(exchange, hashes);
    const context = { sessionId, ...(exchange.turnId !== null && { turnId: exchange.turnId }) };
    await withLogContext(context, async () => {
      try {
        await this.exchange(exchange);
      } finally {
        await continued;
        if (fields.isLast && sessionId !== null) await this.endSession(sessionId, 'the client ended the session');
      }
    });
  }

  /** Closes the open turns of a session. What cannot be written down is found again by their expiry. */
  async endSession(sessionId: string, detail: string): Promise<void> {
    await this.journal
      .record({ kind: 'end-session', id: randomUUID(), sessionId, detail })
      .catch((error: unknown) => this.log.error('session.end-lost', { sessionId, error }));
  }

  /** Runs beside the engine's call; a request is never delayed or refused by it. */
  private async continue({ request, sessionId }: Exchange, hashes: readonly string[]): Promise<void> {
    const continuations = answerPositions(request.messages, hashes).map(({ index, key }) => ({
      key,
      texts: this.redaction.texts(pairTexts(request.messages, index)),
    }));
    if (continuations.length === 0) return;
    await this.journal
      .record({ kind: 'continue', id: randomUUID(), sessionId, continuations })
      .catch((error: unknown) => this.log.error('turn.continuation-lost', { error }));
  }

  private async exchange(exchange: Exchange): Promise<void> {
    const { call, request, sent, client, reply } = exchange;
    const abort = new AbortController();
    let stream: AnswerStream | null = null;
    client.onGone(() => {
      // An answer that the engine has finished is complete: its last bytes are still read.
      if (!stream?.isFinished) abort.abort();
    });
    let routed: RoutedResponse | null = null;
    try {
      routed = await this.router.call(request.model ?? null, sent.body, call.headers, abort.signal);
      const { response } = routed;
      if (response.statusCode !== 200) return await this.passError(exchange, routed);
      const type = String(response.headers['content-type'] ?? '');
      const isStream =
        type.includes('text/event-stream') || (request.stream === true && !type.includes('application/json'));
      if (!isStream) return await this.passWhole(exchange, routed);
      const choices = Math.max(1, typeof request['n'] === 'number' ? request['n'] : 1);
      const format = call.format.stream(sent.asked, exchange.answerId);
      stream = new AnswerStream(client, this.streamHeaders(exchange), format, choices);
      reply.hijack();
      await this.passStream(exchange, routed, stream);
    } catch (error) {
      if (client.isGone) return void this.metrics.request(499);
      await this.refuse(exchange, error);
    } finally {
      routed?.release();
    }
  }

  private async passStream(exchange: Exchange, routed: RoutedResponse, stream: AnswerStream): Promise<void> {
    await stream.relay(routed.response.body, async ({ outcome, answer, detail }) => {
      const context = this.contextOf(exchange, routed, answer);
      if (!context) return this.metrics.side();
      if (outcome === 'complete') await this.recorder.complete(context, exchange.promptHash, answer);
      else if (outcome === 'failed') await this.recorder.failed(context, answer, detail);
      else await this.recorder.malformed(context, answer, detail);
    });
    // Stops an engine that goes on after a broken event.
    if (!routed.response.body.readableEnded) routed.response.body.destroy();
    this.metrics.request(200);
  }

  private async passWhole(exchange: Exchange, routed: RoutedResponse): Promise<void> {
    const { reply, client } = exchange;
    const { answer, written } = this.readWhole(exchange, await this.wholeBody(routed));
    const context = this.contextOf(exchange, routed, answer);
    if (context) {
      const stored = this.recorder.complete(context, exchange.promptHash, answer);
      await Promise.race([stored, new Promise((resolve) => setTimeout(resolve, HOLD_MS).unref())]);
      void reply.header('x-hindcast-turn-id', context.turnId);
    } else this.metrics.side();
    this.metrics.request(client.isGone ? 499 : 200);
    if (!client.isGone) await reply.status(200).type('application/json').send(written);
  }

  private readWhole({ call, sent, answerId }: Exchange, bytes: Buffer): { answer: CompletedAnswer; written: Buffer } {
    let body: unknown;
    try {
      body = JSON.parse(bytes.toString('utf8'));
    } catch (cause) {
      throw new HindcastError('engine-invalid-response', 'the engine did not answer with JSON', { cause });
    }
    const answer = readCompletion(body);
    if (!answer) throw new HindcastError('engine-invalid-response', 'the engine did not answer with a chat completion');
    return { answer, written: call.format.whole(bytes, body as Record<string, unknown>, sent.asked, answerId) };
  }

  private async wholeBody({ response }: RoutedResponse): Promise<Buffer> {
    try {
      return Buffer.from(await response.body.arrayBuffer());
    } catch (error) {
      const failure = engineError(error);
      if (failure.code === 'engine-timeout') throw failure;
      throw new HindcastError('engine-stream-broken', 'the engine broke off the answer', { cause: error });
    }
  }

  /** The engine's error with its status, in OpenAI's shape. */
  private async passError({ call, reply }: Exchange, routed: RoutedResponse): Promise<void> {
    const bytes = await this.wholeBody(routed);
    const { status, body } = engineErrorResponse(
      routed.response.statusCode,
      this.withoutEngineKey(bytes.toString('utf8')),
    );
    const retryAfter = routed.response.headers['retry-after'];
    if (retryAfter) void reply.header('retry-after', String(retryAfter));
    this.log.warn('engine.refused', { status: routed.response.statusCode, model: routed.model });
    await this.sendError(reply, status, call.format.error(status, body));
  }

  /** No byte of an answer was sent yet. A hijacked reply is answered by hand. */
  private async refuse({ call, reply, client }: Exchange, error: unknown): Promise<void> {
    if (client.hasStarted) {
      this.log.error('chat.broken', { error });
      return void reply.raw.destroy();
    }
    const { status, body } =
      error instanceof EngineRefusal
        ? { status: reportedStatus(error.reported), body: this.withoutEngineKey(reportedBody(error.reported)) }
        : { status: httpErrorOf(error).status, body: JSON.stringify(httpErrorOf(error).body) };
    const isOurs = error instanceof HindcastError || error instanceof EngineRefusal;
    this.log[isOurs ? 'warn' : 'error']('chat.failed', { status, error });
    if (!reply.sent) {
      if (status === 503) void reply.header('retry-after', '1');
      return this.sendError(reply, status, call.format.error(status, body));
    }
    this.metrics.request(status);
    reply.raw
      .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
      .end(call.format.error(status, body));
  }

  /** Servers that refuse a key like to quote it. */
  private withoutEngineKey(text: string): string {
    const key = this.config.POLICY_API_KEY;
    return key ? text.replaceAll(key, '***') : text;
  }

  private async sendError(reply: FastifyReply, status: number, body: string): Promise<void> {
    this.metrics.request(status);
    await reply.status(status).type('application/json').send(body);
  }

  private streamHeaders({ turnId }: Exchange): Record<string, string> {
    return {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      connection: 'keep-alive',
      'x-accel-buffering': 'no',
      ...(turnId !== null && { 'x-hindcast-turn-id': turnId }),
    };
  }

  private contextOf(
    { turnId, call, sessionId, request, sent }: Exchange,
    routed: RoutedResponse,
    answer: CompletedAnswer,
  ): AnswerContext | null {
    if (turnId === null) return null;
    return {
      turnId,
      tenant: call.tenant,
      sessionId,
      responseId: call.format.responseId(turnId),
      request,
      model: routed.model,
      policyVersion: this.router.version(routed, answer.model),
      dialect: this.config.POLICY_DIALECT,
      sampling: samplingOf(sent.body),
      sentBody: sent.body,
    };
  }
}
