import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { ContractViolation, encodeCapture, type ClosedTurn } from '@hindcast/contracts';
import { CONFIG, Log } from '@hindcast/platform';
import type { GatewayConfig } from './config';
import type { CompletedAnswer } from './core/answer';
import { captureOf, capturedTurn, type AnswerContext } from './core/answer-record';
import { openTurnKey } from './core/canonical-conversation';
import { checkCapture, type CaptureVerdict } from './core/capture-check';
import { offPolicyCause } from './core/off-policy';
import type { OpenTurn } from './core/open-turn';
import type { Operation } from './core/operation';
import { GatewayMetrics } from './gateway-metrics';
import { RecentTurns } from './recent-turns';
import { Redaction } from './redaction';
import { TurnBook } from './turn-book';
import { TurnJournal } from './turn-journal';
import { TurnSweeper } from './turn-sweeper';

/** Finish reasons of an engine that stopped without an answer. */
const ABORTED = new Set(['abort', 'error']);

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Writes down every main answer when it ends: opened, untrainable with a reason, or failed. */
@Injectable()
export class AnswerRecorder {
  constructor(
    @Inject(CONFIG) private readonly config: GatewayConfig,
    private readonly journal: TurnJournal,
    private readonly sweeper: TurnSweeper,
    private readonly recent: RecentTurns,
    private readonly redaction: Redaction,
    private readonly metrics: GatewayMetrics,
    private readonly book: TurnBook,
    private readonly log: Log,
  ) {}

  /** The engine finished the answer. Resolves once it is stored or counted as uncaptured; never throws. */
  async complete(context: AnswerContext, promptHash: string, answer: CompletedAnswer): Promise<void> {
    if (ABORTED.has(answer.finishReason ?? '')) return this.failed(context, answer, 'the engine aborted the answer');
    this.metrics.answerEnded('complete');
    const verdict = checkCapture(answer, this.offPolicyCause(context));
    const { sampling, policyVersion, request } = context;
    if (verdict.trainable && this.redaction.holds(request.messages, request['tools'], answer.message)) {
      const detail = 'the conversation or the answer holds what REDACTION keeps out of storage';
      return this.untrainable(context, answer, { trainable: false, reason: 'redacted', detail });
    }
    if (!verdict.trainable || !sampling || policyVersion === null) return this.untrainable(context, answer, verdict);
    const at = Date.now();
    let capture: Uint8Array;
    try {
      capture = encodeCapture(captureOf(context, answer, verdict, { sampling, policyVersion, at }));
    } catch (error) {
      this.log.error('capture.refused', { turnId: context.turnId, error });
      return this.untrainable(context, answer, {
        trainable: false,
        reason: 'malformed-stream',
        detail: 'the capture breaks its contract',
      });
    }
    if (!this.book.fits(capture.length)) {
      return this.untrainable(context, answer, {
        trainable: false,
        reason: 'too-large',
        detail: `${capture.length} bytes`,
      });
    }
    const turn: OpenTurn = {
      turnId: context.turnId,
      tenant: context.tenant,
      sessionId: context.sessionId,
      promptHash,
      openedAt: at,
      captured: capturedTurn(context, answer, verdict),
      announced: false,
      ending: null,
    };
    await this.write({ kind: 'open', key: openTurnKey(promptHash, answer.message, sha256), turn }, capture, context);
    this.log.info('turn.captured', {
      turnId: turn.turnId,
      sessionId: turn.sessionId,
      policyVersion: context.policyVersion,
      tokens: verdict.responseIds.length,
    });
  }

  /** The answer stopped midway: the client went away, the engine broke off or said that it failed. Never trained. */
  async failed(context: AnswerContext, answer: CompletedAnswer, detail: string): Promise<void> {
    this.metrics.answerEnded('failed');
    this.log.warn('turn.failed', {
      turnId: context.turnId,
      sessionId: context.sessionId,
      detail,
      tokens: answer.responseIds?.length ?? null,
    });
    await this.announce(context, answer, null, { reason: 'failed', detail });
  }

  /** The answer ended, and what the engine sent was not an answer. */
  async malformed(context: AnswerContext, answer: CompletedAnswer, detail: string): Promise<void> {
    this.metrics.answerEnded('failed');
    await this.untrainable(context, answer, { trainable: false, reason: 'malformed-stream', detail });
  }

  private offPolicyCause({ sampling, sentBody, policyVersion }: AnswerContext): string | null {
    if (policyVersion === null) return 'model';
    // Sampling that could not be read cannot be recorded either.
    if (this.config.OFF_POLICY === 'train' && sampling) return null;
    return offPolicyCause(sampling, sentBody);
  }

  private async untrainable(context: AnswerContext, answer: CompletedAnswer, verdict: CaptureVerdict): Promise<void> {
    if (!verdict.trainable) {
      this.metrics.untrainable(verdict.reason);
      this.log.info('turn.untrainable', {
        turnId: context.turnId,
        sessionId: context.sessionId,
        reason: verdict.reason,
        detail: verdict.detail,
      });
    }
    await this.announce(context, answer, verdict, null);
  }

  private announce(
    context: AnswerContext,
    answer: CompletedAnswer,
    verdict: CaptureVerdict | null,
    closed: ClosedTurn | null,
  ): Promise<void> {
    const { turnId, tenant } = context;
    return this.write(
      { kind: 'announce', turnId, tenant, captured: capturedTurn(context, answer, verdict), closed },
      null,
      context,
    );
  }

  private async write(
    operation: Extract<Operation, { kind: 'open' | 'announce' }>,
    capture: Uint8Array | null,
    context: AnswerContext,
  ): Promise<void> {
    const { captured, closed } =
      operation.kind === 'open' ? { captured: operation.turn.captured, closed: null } : operation;
    this.recent.add(context.tenant, context.turnId, captured, closed);
    try {
      this.metrics.written(await this.journal.record(operation, capture, true));
    } catch (error) {
      this.metrics.uncaptured(error instanceof ContractViolation ? 'contract-violation' : 'not-stored');
      this.log.error('turn.uncaptured', { turnId: context.turnId, error });
      // NATS may have stored it without saying so; what is counted as uncaptured must not come back.
      if (operation.kind === 'open') this.sweeper.disown(operation.key, operation.turn);
    }
  }
}
