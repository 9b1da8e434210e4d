import { Inject, Injectable } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { CONFIG, requestSpan } from '@hindcast/platform';
import type { FastifyReply } from 'fastify';
import { callerOf } from './api-key.guard';
import { brokenOff, wholeBody } from './broken-answer';
import { ClientConnection } from './client-connection';
import type { GatewayConfig } from './config';
import { chatFormat } from './core/client-format';
import { errorBody } from './core/engine-error';
import { withoutKey } from './core/engine-key';
import { engineRequest, type EngineRequest } from './core/engine-request';
import { UsageFilter, checkPassThrough, usageIn, type PassThroughRequest } from './core/pass-through';
import { ErrorReplies, type ErrorTarget } from './error-replies';
import { GatewayMetrics } from './gateway-metrics';
import { KeyLimits } from './key-limits';
import { PolicyRouter, type RoutedResponse } from './policy-router';

/** The routes of an engine that are handed on as they are. */
export type PassThroughPath = 'completions' | 'embeddings';

/**
 * Hands requests to an engine and its answers back, byte for byte: no turn, no capture. Completions are answered by the current
 * version like chats; embeddings by the model that they name.
 */
@Injectable()
export class PassThrough {
  constructor(
    @Inject(CONFIG) private readonly config: GatewayConfig,
    private readonly router: PolicyRouter,
    private readonly errors: ErrorReplies,
    private readonly limits: KeyLimits,
    private readonly metrics: GatewayMetrics,
  ) {}

  async answer(path: PassThroughPath, body: unknown, reply: FastifyReply): Promise<void> {
    const checked = checkPassThrough(body);
    if (!checked.ok) return this.errors.invalid(chatFormat, reply, checked.message, checked.param);
    const client = new ClientConnection(reply.raw, this.config.CLIENT_TIMEOUT_MS);
    const target: ErrorTarget = { call: { format: chatFormat }, reply, client };
    const abort = new AbortController();
    client.onGone(() => abort.abort());
    let routed: RoutedResponse | null = null;
    try {
      const sent = this.requestFor(checked.request, reply);
      routed = await this.router.call(checked.request.model ?? null, sent.body, reply.request.headers, abort.signal, {
        path,
        onlyAsNamed: path === 'embeddings',
        span: requestSpan(reply.request),
      });
      await this.hand(target, sent, routed);
    } catch (error) {
      if (client.isGone) return this.metrics.request(499);
      await this.errors.refuse(target, error);
    } finally {
      routed?.release();
    }
  }

  private requestFor(request: PassThroughRequest, reply: FastifyReply): EngineRequest {
    return engineRequest(request, {
      dialect: this.config.POLICY_DIALECT,
      isCaptured: false,
      isCounted: this.limits.counts(callerOf(reply.request)),
      forceSampling: false,
    });
  }

  private async hand(target: ErrorTarget, sent: EngineRequest, routed: RoutedResponse): Promise<void> {
    const { response } = routed;
    if (response.statusCode !== 200) return this.errors.passOn(target, routed, await wholeBody(routed));
    this.metrics.notChat();
    const type = String(response.headers['content-type'] ?? 'application/json');
    if (type.includes('text/event-stream')) return this.handStream(target, sent, routed);
    const bytes = this.withoutEngineKey(await wholeBody(routed));
    const { reply, client } = target;
    this.limits.charge(callerOf(reply.request), usageIn(bytes));
    this.metrics.request(client.isGone ? 499 : 200);
    if (!client.isGone) await reply.status(200).type(type).send(bytes);
  }

  /** Some servers answer an error with 200. */
  private withoutEngineKey(bytes: Buffer): Buffer {
    const key = this.config.POLICY_API_KEY;
    if (!key || !bytes.includes('"error"')) return bytes;
    return Buffer.from(withoutKey(bytes.toString('utf8'), key));
  }

  /** Piece by piece as it comes. A stream that breaks off ends with an error event; before its first piece with a status. */
  private async handStream(target: ErrorTarget, sent: EngineRequest, { response }: RoutedResponse): Promise<void> {
    const { reply, client } = target;
    const caller = callerOf(reply.request);
    const key = this.config.POLICY_API_KEY;
    const filter = this.limits.counts(caller) || key ? new UsageFilter(sent.asked, key) : null;
    reply.hijack();
    let last: Uint8Array = new Uint8Array(0);
    const write = async (pieces: readonly Uint8Array[]): Promise<void> => {
      for (const piece of pieces) {
        client.start(STREAM_HEADERS);
        last = piece;
        await client.write(piece);
      }
    };
    try {
      for await (const piece of response.body) await write(filter ? filter.push(piece) : [piece]);
      if (filter) await write(filter.end());
      if (!client.hasStarted) throw new HindcastError('engine-invalid-response', 'the engine sent no answer');
    } catch (error) {
      if (client.isGone) throw error;
      const failure = brokenOff(error);
      if (!client.hasStarted) throw failure;
      await write([errorEvent(last, failure)]);
    } finally {
      this.limits.charge(caller, filter?.counted, filter?.tokensSeen);
    }
    client.end();
    this.metrics.request(client.isGone ? 499 : 200);
  }
}

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

const LF = 0x0a;

/** The event that ends a broken stream; the event before it, if cut, is closed first. */
function errorEvent(last: Uint8Array, { code, message }: HindcastError): Uint8Array {
  const isWhole = last.at(-1) === LF && (last.at(-2) === LF || last.at(-3) === LF);
  return Buffer.from(`${isWhole ? '' : '\n\n'}data: ${JSON.stringify(errorBody(message, 'server_error', code))}\n\n`);
}
