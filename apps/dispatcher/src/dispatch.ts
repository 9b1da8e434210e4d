import { Inject, Injectable } from '@nestjs/common';
import type { EvalVote, HintVote } from '@hindcast/contracts';
import { CONFIG, Log, Nats } from '@hindcast/platform';
import type { DispatcherConfig } from './config';
import { decide, needsCapture, type Circumstances, type Decision, type JudgedTurn } from './core/decide';
import type { Changes } from './ledger-commit';
import { Ledger } from './ledger';
import { TurnValues } from './turn-values';

/** Reads what a decision depends on, decides, and stores decision, votes, sample and outbox entry together. */
@Injectable()
export class Dispatch {
  constructor(
    @Inject(CONFIG) private readonly config: DispatcherConfig,
    private readonly ledger: Ledger,
    private readonly values: TurnValues,
    private readonly nats: Nats,
    private readonly log: Log,
  ) {}

  /**
   * @returns the decision, or `null` when the turn was decided before
   * @throws DependencyUnavailable while the database or the broker is away
   */
  async decide(turnId: string, tenant: string, turn: JudgedTurn): Promise<Decision | null> {
    if ((await this.ledger.turn(turnId))?.decided) return null;
    const circumstances = await this.circumstances(turnId);
    const capture = needsCapture(turn, circumstances) ? await this.values.capture(turnId) : 'capture-missing';
    const decision = decide(turn, circumstances, capture);
    const { responseId, sessionId, policyVersion } = turn;
    const isFirst = await this.ledger.record({
      turnId,
      tenant,
      event: {
        kind: 'decided',
        identity: { responseId, sessionId, policyVersion },
        case: decision.case,
        reason: decision.reason,
      },
      rows: rowsOf(turnId, tenant, turn, decision, circumstances),
    });
    if (!isFirst) return null;
    this.log.info('turn.decided', { case: decision.case, reason: decision.reason, reward: decision.reward });
    return decision;
  }

  private async circumstances(turnId: string): Promise<Circumstances> {
    const [feedback, currentVersion] = await Promise.all([this.values.feedback(turnId), this.values.currentVersion()]);
    const { METHOD: method, MAX_STALENESS: maxStaleness } = this.config;
    return {
      feedback,
      rule: { method, currentVersion, maxStaleness, atLeastOne: false },
      maxSampleBytes: this.nats.maxPayload,
    };
  }
}

function rowsOf(
  turnId: string,
  tenant: string,
  turn: JudgedTurn,
  decision: Decision,
  { rule }: Circumstances,
): Omit<Changes, 'turns'> {
  const { sample } = decision;
  return {
    decisions: [
      {
        turnId,
        case: decision.case,
        reward: decision.reward,
        reason: decision.reason,
        method: rule.method,
        evalScore: decision.evalScore,
        hint: turn.hint,
        rewardSource: decision.rewardSource,
        judgeModel: turn.judgeModel,
        promptVersion: turn.promptVersion,
        judgeLatencyMs: turn.latencyMs,
        teacherModel: 'teacher' in turn ? turn.teacher.model : null,
        policyVersion: turn.policyVersion,
        currentVersion: rule.currentVersion,
      },
    ],
    votes: [
      ...turn.evalVotes.map((vote, ordinal) => ({
        turnId,
        kind: 'eval' as const,
        ordinal,
        hint: null,
        ...votePart(vote),
      })),
      ...turn.hintVotes.map((vote, ordinal) => ({
        turnId,
        kind: 'hint' as const,
        ordinal,
        hint: vote.hint,
        ...votePart(vote),
      })),
    ],
    ...(sample && {
      samples: [
        {
          turnId,
          tenant,
          case: sample.case,
          reward: sample.reward,
          policyVersion: sample.policyVersion,
          promptTokens: sample.promptIds.length,
          responseTokens: sample.responseIds.length,
          state: 'ready' as const,
        },
      ],
      outbox: [{ turnId, tenant, body: sample }],
    }),
  };
}

function votePart({ score, abstained, latencyMs, promptTokens, completionTokens, raw }: EvalVote | HintVote) {
  return { score, abstained, latencyMs, promptTokens, completionTokens, raw };
}
