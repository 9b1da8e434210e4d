import { z } from 'zod';
import { LedgerStatus, StatusQuery } from './ledger-status';
import {
  DeadLetterAnswer,
  DeadLetterOutcome,
  DeadLetterQuery,
  DeadLetterReplay,
  DeadLettersPage,
  DeadLettersQuery,
  JudgeQuery,
  JudgeStatistics,
  StepsPage,
  StepsQuery,
  VersionsPage,
  VersionsQuery,
} from './ledger-training';
import { TurnDetailAnswer, TurnDetailQuery, TurnsPage, TurnsQuery } from './ledger-turns';
import { LedgerOverview, OverviewQuery, ServiceReport, ServicesQuery } from './overview';
import { PolicyVersion, Reward, Score, Tenant } from './primitives';
import { RewardSource } from './sample';

export const TurnQuery = z.strictObject({ tenant: Tenant, id: z.string().min(1).max(200) });
export type TurnQuery = z.infer<typeof TurnQuery>;

/** The story of a turn (`GET /v1/turns/{turn or response id}`). */
export const TurnStory = z.strictObject({
  turnId: z.string(),
  responseId: z.string(),
  state: z.enum(['open', 'paired', 'judged', 'decided', 'trained', 'closed']),
  /** Row of the gate; `null` until decided. */
  case: z.enum(['opdRl', 'opd', 'rl', 'drop']).nullable(),
  /** Why it was dropped, closed or refused; `null` when there is nothing to explain. */
  reason: z.string().nullable(),
  policyVersion: PolicyVersion,
  evalScore: Score.nullable(),
  /** r of the sample; `null` until decided and when dropped. */
  reward: Reward.nullable(),
  rewardSource: RewardSource.nullable(),
  hint: z.string().nullable(),
  /** Version that was trained on this turn. */
  trainedIn: PolicyVersion.nullable(),
});
export type TurnStory = z.infer<typeof TurnStory>;

export const TurnAnswer = z.discriminatedUnion('found', [
  z.strictObject({ found: z.literal(true), turn: TurnStory }),
  z.strictObject({ found: z.literal(false) }),
]);
export type TurnAnswer = z.infer<typeof TurnAnswer>;

/** Reads of the ledger, and what a person orders of it, over core NATS request/reply; no stream covers them. */
export const queries = {
  turn: { subject: 'rl.query.v1.turn', request: TurnQuery, reply: TurnAnswer },
  status: { subject: 'rl.query.v1.status', request: StatusQuery, reply: LedgerStatus },
  overview: { subject: 'rl.query.v1.overview', request: OverviewQuery, reply: LedgerOverview },
  turns: { subject: 'rl.query.v1.turns', request: TurnsQuery, reply: TurnsPage },
  turnDetail: { subject: 'rl.query.v1.turn-detail', request: TurnDetailQuery, reply: TurnDetailAnswer },
  steps: { subject: 'rl.query.v1.steps', request: StepsQuery, reply: StepsPage },
  versions: { subject: 'rl.query.v1.versions', request: VersionsQuery, reply: VersionsPage },
  judge: { subject: 'rl.query.v1.judge', request: JudgeQuery, reply: JudgeStatistics },
  deadLetters: { subject: 'rl.query.v1.dead-letters', request: DeadLettersQuery, reply: DeadLettersPage },
  deadLetter: { subject: 'rl.query.v1.dead-letter', request: DeadLetterQuery, reply: DeadLetterAnswer },
  replayDeadLetter: {
    subject: 'rl.command.v1.dead-letter.replay',
    request: DeadLetterReplay,
    reply: DeadLetterOutcome,
  },
  discardDeadLetter: {
    subject: 'rl.command.v1.dead-letter.discard',
    request: DeadLetterQuery,
    reply: DeadLetterOutcome,
  },
} as const;
export type QueryName = keyof typeof queries;

/** Those that change something. */
export const commands: ReadonlySet<QueryName> = new Set(['replayDeadLetter', 'discardDeadLetter']);

/** Asked of every process on the bus at once; whoever asks gathers the answers (libs/platform answers for each service). */
export const surveys = {
  services: { subject: 'rl.query.v1.services', request: ServicesQuery, reply: ServiceReport },
} as const;
export type SurveyName = keyof typeof surveys;
