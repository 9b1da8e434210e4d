import { createHash, hash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { ContractViolation, encodeCapture, type ClosedTurn } from '@hindcast/contracts';
import { CONFIG, Log, NO_SPAN, endWith, reusedMemory, startSpan, type Lease, type Span } from '@hindcast/platform';
import type { GatewayConfig } from './config';
import { callsWithoutSayingSo, type CompletedAnswer } from './core/answer';
import { captureOf, capturedTurn, type AnswerContext, type EndedTurn } from './core/answer-record';
import { openTurnKey, type Sha256 } from './core/canonical-conversation';
import { checkCapture, refuseCapture, type CaptureVerdict } from './core/capture-check';
import { writtenMember } from './core/exact-numbers';
import { offPolicyCause } from './core/off-policy';
import { sessionTurn, type OpenTurn } from './core/open-turn';
import type { Operation } from './core/operation';
import type { PrefixIdentity } from './core/request-identity';
import { MAX_GROUND_TRUTH } from './core/reward-fields';
import { numbersOf } from './core/token-ids';
import { GatewayMetrics } from './gateway-metrics';
import { IdRecovery } from './id-recovery';
import { RecentTurns } from './recent-turns';
import { Redaction } from './redaction';
import { TurnBook } from './turn-book';
import { TurnJournal } from './turn-journal';
import { TurnSweeper } from './turn-sweeper';

/** Finish reasons of an engine that stopped without an answer. */
const ABORTED = new Set(['abort', 'error']);

/** @param outcome of the answer's transport: an engine may end it well, and say in it that it stopped */
export const isComplete = ({ finishReason }: CompletedAnswer, outcome: EndedTurn['outcome']): boolean =>
  outcome === 'complete' && !ABORTED.has(finishReason ?? '');

export const sha256: Sha256 = (text, utf8) =>
  utf8 === undefined ? hash('sha256', text, 'hex') : createHash('sha256').update(text).update(utf8).digest('hex');

interface EncodedCapture {
  readonly bytes: Uint8Array;
  readonly lease: Lease;
}

/** What is to be written down of one answer. */
interface Draft {
  readonly context: AnswerContext;
  readonly operation: Extract<Operation, { kind: 'open' | 'announce' }>;
  readonly capture: EncodedCapture | null;
  readonly span?: Span;
}

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
    private readonly ids: IdRecovery,
    private readonly log: Log,
  ) {}

  /**
   * All choices of one response. Those that open know of each other: at most one of them is continued.
   *
   * Resolves once every one is stored or counted as uncaptured; never throws.
   */
  async record(prompt: PrefixIdentity, ended: readonly EndedTurn[]): Promise<void> {
    const spans = ended.map(({ context }) => captureSpan(context));
    const turns = await this.ids.withIds(ended);
    const drafts = turns.map((turn, index) => traced(this.draft(prompt, turn), spans[index]!));
    const opened = drafts.flatMap(({ operation }) =>
      operation.kind === 'open' ? [{ turnId: operation.turn.turnId, key: operation.key }] : [],
    );
    await Promise.all(
      drafts.map((draft) => {
        const { operation } = draft;
        if (operation.kind === 'announce' || opened.length === 1) return this.write(draft);
        const siblings = opened.filter(({ turnId }) => turnId !== operation.turn.turnId);
        return this.write({ ...draft, operation: { ...operation, turn: { ...operation.turn, siblings } } });
      }),
    );
  }

  private draft(prompt: PrefixIdentity, turn: EndedTurn): Draft {
    const { context, answer, outcome, detail } = turn;
    if (outcome === 'malformed') return this.untrainable(turn, refuseCapture('malformed-stream', detail));
    if (outcome === 'failed') return this.failed(turn, detail);
    if (!isComplete(answer, outcome)) return this.failed(turn, 'the engine aborted the answer');
    if (callsWithoutSayingSo(answer)) {
      this.metrics.unannouncedToolCall();
      this.log.warn('turn.tool-call-with-stop', { turnId: context.turnId });
    }
    const verdict = this.verdict(turn);
    if (!verdict.trainable) return this.untrainable(turn, verdict);
    const at = Date.now();
    const encoded = this.encode(turn, verdict, at);
    if ('trainable' in encoded) return this.untrainable(turn, encoded);
    const key = openTurnKey(prompt.conversation, answer.message, sha256);
    const opened: OpenTurn = {
      turnId: context.turnId,
      tenant: context.tenant,
      sessionId: context.sessionId,
      context: prompt.context,
      openedAt: at,
      captured: capturedTurn(context, answer, verdict),
      announced: false,
      ending: null,
      ...this.groundTruth(context),
    };
    const inSession = context.sessionId === null ? null : sessionTurn(key, opened, prompt, answer.message, sha256);
    return { context, operation: { kind: 'open', key, turn: opened, inSession }, capture: encoded };
  }

  /** Replaced in part, it may be too long: cut it would be another truth, so there is none then. */
  private groundTruth({ groundTruth }: AnswerContext): Pick<OpenTurn, 'groundTruth'> {
    const stored = this.redaction.text(groundTruth);
    return stored !== null && stored.length <= MAX_GROUND_TRUTH ? { groundTruth: stored } : {};
  }

  private verdict({ context, answer }: EndedTurn): CaptureVerdict {
    const verdict = checkCapture(answer, this.offPolicyCause(context), numbersOf(context.sentBody['input_ids']));
    const { request } = context;
    const stored = [request.messages, request['tools'], request['chat_template_kwargs'], answer.message];
    if (verdict.trainable && this.redaction.holds(...stored)) {
      return refuseCapture('redacted', 'the conversation or the answer holds what REDACTION keeps out of storage');
    }
    return verdict;
  }

  private offPolicyCause({ sampling, sentBody, policyVersion, unknownVersion }: AnswerContext): string | null {
    if (policyVersion === null) return unknownVersion ?? 'model';
    // Sampling that could not be read cannot be recorded either.
    if (this.config.OFF_POLICY === 'train' && sampling) return null;
    return offPolicyCause(sampling, sentBody);
  }

  /** The capture's bytes, or why there are none. */
  private encode(
    { context, answer }: EndedTurn,
    verdict: Extract<CaptureVerdict, { trainable: true }>,
    at: number,
  ): EncodedCapture | Extract<CaptureVerdict, { trainable: false }> {
    let lease: Lease | null = null;
    let bytes: Uint8Array;
    try {
      // Of a member that is written twice only the last was looked at, and the JSON holds both.
      const written = this.redaction.isOn ? null : writtenMember(context.request, 'messages');
      bytes = encodeCapture(captureOf(context, answer, verdict, at), written, (length) => {
        lease = reusedMemory.lease(length);
        return lease.bytes.subarray(0, length);
      });
    } catch (error) {
      this.log.error('capture.refused', { turnId: context.turnId, error });
      return refuseCapture('malformed-stream', 'the capture breaks its contract');
    }
    return this.book.fits(bytes.length)
      ? { bytes, lease: lease! }
      : refuseCapture('too-large', `${bytes.length} bytes`);
  }

  /** The answer stopped midway: the client went away, the engine broke off or said that it failed. Never trained. */
  private failed({ context, answer }: EndedTurn, detail: string): Draft {
    this.log.warn('turn.failed', {
      turnId: context.turnId,
      sessionId: context.sessionId,
      detail,
      tokens: answer.responseIds?.length ?? null,
    });
    return announcement({ context, answer }, null, { reason: 'failed', detail });
  }

  private untrainable(turn: EndedTurn, verdict: Extract<CaptureVerdict, { trainable: false }>): Draft {
    this.metrics.untrainable(verdict.reason);
    this.log.info('turn.untrainable', {
      turnId: turn.context.turnId,
      sessionId: turn.context.sessionId,
      reason: verdict.reason,
      detail: verdict.detail,
    });
    return announcement(turn, verdict, null);
  }

  private write(draft: Draft): Promise<void> {
    const { span = NO_SPAN } = draft;
    return endWith(span, this.writeDown(draft, span));
  }

  private async writeDown({ context, operation, capture }: Draft, span: Span): Promise<void> {
    const { captured, closed } =
      operation.kind === 'open' ? { captured: operation.turn.captured, closed: null } : operation;
    this.recent.add(context.tenant, context.turnId, captured, closed);
    try {
      const place = await this.journal.record(operation, capture?.bytes ?? null, true);
      this.metrics.written(place);
      // NATS says that it has stored all of it. Where it did not in time, its connection or the spool may still be at it.
      if (place === 'nats') capture?.lease.giveBack();
    } catch (error) {
      this.metrics.uncaptured(error instanceof ContractViolation ? 'contract-violation' : 'not-stored');
      span.fail(error);
      this.log.error('turn.uncaptured', { turnId: context.turnId, error });
      // NATS may have stored it without saying so; what is counted as uncaptured must not come back.
      if (operation.kind === 'open') this.sweeper.disown(operation.key, operation.turn);
      return;
    }
    if (operation.kind === 'announce') return;
    const { turnId, sessionId } = context;
    const { policyVersion, completionTokens: tokens } = captured;
    this.log.info('turn.captured', { turnId, sessionId, policyVersion, tokens });
  }
}

const announcement = (
  { context, answer }: Pick<EndedTurn, 'context' | 'answer'>,
  verdict: CaptureVerdict | null,
  closed: ClosedTurn | null,
): Draft => ({
  context,
  operation: {
    kind: 'announce',
    turnId: context.turnId,
    tenant: context.tenant,
    captured: capturedTurn(context, answer, verdict),
    closed,
  },
  capture: null,
});

function captureSpan({ turnId, sessionId, policyVersion, trace }: AnswerContext): Span {
  if (trace == null) return NO_SPAN;
  const attributes = {
    'hindcast.turn.id': turnId,
    'hindcast.session.id': sessionId,
    'hindcast.policy.version': policyVersion,
  };
  return startSpan('capture', { attributes }, trace);
}

/** What is written down is found again in the trace that it was captured in. */
function traced(draft: Draft, span: Span): Draft {
  const { context: trace } = span;
  if (trace === null) return draft;
  const { operation } = draft;
  if (operation.kind === 'open')
    return { ...draft, span, operation: { ...operation, turn: { ...operation.turn, trace } } };
  const { captured, closed } = operation;
  span.set({ 'hindcast.reason': closed?.reason ?? captured.untrainable });
  return { ...draft, span, operation: { ...operation, trace } };
}
