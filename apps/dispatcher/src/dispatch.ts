import { Inject, Injectable } from '@nestjs/common';
import type { Feedback, TraceContext } from '@hindcast/contracts';
import { CONFIG, Log, Nats, activeSpan, crashPoint, inSpan } from '@hindcast/platform';
import type { DispatcherConfig } from './config';
import { needsCapture, type Circumstances, type Decision, type JudgedTurn } from './core/decide';
import { decisionRows } from './core/decision-rows';
import { decideRecording, recordingTexts, type Recording } from './core/recording';
import { CurrentVersion } from './current-version';
import type { TurnRows } from './ledger-rows';
import { LedgerWriter } from './ledger-writer';
import { LengthGuard } from './length-guard';
import { Outbox } from './outbox';
import { Sessions } from './sessions';
import { Tally } from './tally';
import { traceText } from './trace-text';
import { TurnValues } from './turn-values';

/** Reads what a decision depends on, decides, and stores decision, votes, recording and outbox entry together. */
@Injectable()
export class Dispatch {
  constructor(
    @Inject(CONFIG) private readonly config: DispatcherConfig,
    private readonly writer: LedgerWriter,
    private readonly values: TurnValues,
    private readonly currentVersion: CurrentVersion,
    private readonly sessions: Sessions,
    private readonly outbox: Outbox,
    private readonly lengths: LengthGuard,
    private readonly tally: Tally,
    private readonly nats: Nats,
    private readonly log: Log,
  ) {}

  /**
   * Decides a judged turn, once.
   *
   * @param outcome of the turn's session, where the turn waited for one
   * @param trace of the turn, where that is not the caller's
   * @returns the decision, or `null` when the turn was decided before
   * @throws DependencyUnavailable while the database or the broker is away
   */
  async decide(
    turnId: string,
    tenant: string,
    judged: JudgedTurn,
    outcome: Circumstances['outcome'] = null,
    trace?: TraceContext | null,
  ): Promise<Decision | null> {
    const attributes = { 'hindcast.turn.id': turnId, 'hindcast.policy.version': judged.policyVersion };
    // What brought the decision about may belong to another trace, as the outcome of a session does.
    const links = trace === undefined ? [] : [activeSpan().context];
    const decide = async (): Promise<Decision | null> => {
      const decision = await this.decideOnce(turnId, tenant, judged, outcome);
      activeSpan().set({ 'hindcast.case': decision?.case, 'hindcast.reason': decision?.reason });
      return decision;
    };
    return inSpan('gate', { attributes, links }, decide, trace);
  }

  private async decideOnce(
    turnId: string,
    tenant: string,
    judged: JudgedTurn,
    outcome: Circumstances['outcome'],
  ): Promise<Decision | null> {
    for (;;) {
      const recording = await this.recording(turnId, judged, outcome);
      const decision = decideRecording(recording);
      const stored = await this.store(recording, tenant, decision);
      // Another turn of the session was kept since it was asked: this one is not its only one any more.
      if (stored === 'overtaken') continue;
      if (stored === 'known') return null;
      crashPoint('after-commit');
      this.announce(turnId, tenant, decision);
      return decision;
    }
  }

  private store({ ...recording }: Recording, tenant: string, decision: Decision) {
    const { turnId, judged } = recording;
    const { responseId, sessionId, policyVersion } = judged;
    return this.writer.write({
      turnId,
      tenant,
      event: {
        kind: 'decided',
        identity: { responseId, sessionId, policyVersion },
        case: decision.case,
        reason: decision.reason,
      },
      rows: { ...decisionRows(recording, tenant, decision), ...this.largeRows(recording, tenant, decision) },
      ...(decision.reason === 'at-least-one' && sessionId !== null && { firstSampleOf: sessionId }),
    });
  }

  private largeRows(recording: Recording, tenant: string, { sample }: Decision): TurnRows {
    const { turnId, judged } = recording;
    const isRecorded = this.config.RECORD_TURNS;
    const body = sample && !isRecorded ? Buffer.from(JSON.stringify(sample)) : null;
    return {
      recordings: isRecorded ? [{ ...recordingTexts(recording), tenant, sessionId: judged.sessionId }] : [],
      outbox: sample ? [{ turnId, tenant, body, trace: traceText() }] : [],
    };
  }

  private announce(turnId: string, tenant: string, { case: gateCase, reason, reward, sample }: Decision): void {
    this.tally.decided(gateCase);
    this.log.info('turn.decided', { turnId, case: gateCase, reason, reward });
    if (!sample) return;
    this.outbox.push({ turnId, tenant, sample, trace: activeSpan().context });
    this.lengths.observe({ responseTokens: sample.responseIds.length, reward: sample.reward });
  }

  private async recording(turnId: string, judged: JudgedTurn, outcome: Circumstances['outcome']): Promise<Recording> {
    const [feedback, early] = await Promise.all([
      this.values.feedback(turnId),
      this.config.RECORD_TURNS ? this.values.capture(turnId) : null,
    ]);
    const circumstances = await this.circumstances(judged, outcome);
    const isMissing = !this.config.RECORD_TURNS && needsCapture(judged, feedback, circumstances);
    const capture = isMissing ? await this.values.capture(turnId) : early;
    return { turnId, judged, feedback, circumstances, capture };
  }

  private async circumstances({ sessionId }: JudgedTurn, outcome: Circumstances['outcome']): Promise<Circumstances> {
    const { METHOD: method, MAX_STALENESS: maxStaleness, AT_LEAST_ONE: atLeastOne } = this.config;
    const asks = method === 'binary-rl' && atLeastOne && sessionId !== null;
    return {
      rule: { method, currentVersion: this.currentVersion.value(), maxStaleness, atLeastOne },
      maxSampleBytes: this.nats.maxPayload,
      sessionHasSample: asks ? await this.sessions.hasSample(sessionId) : null,
      feedbackReward: this.config.FEEDBACK_REWARD,
      evalQuorum: this.config.EVAL_QUORUM,
      outcome,
    };
  }

  /** What a person said of a turn. @throws DependencyUnavailable while the broker is away. */
  feedback(turnId: string): Promise<Feedback | null> {
    return this.values.feedback(turnId);
  }
}
