export { EngineSummary, Overview, ServiceSummary, ShownTurn } from './admin';
export { CaptureHeader, Sampling, decodeCapture, encodeCapture, type Capture } from './capture';
export { DeadLetter } from './dead';
export { ContractViolation, DependencyUnavailable, HindcastError, errorCodes, type ErrorCode } from './errors';
export { isCapturedMessage, isSampling } from './quick-check';
export { readNewer, type Reading } from './newer';
export { SessionOutcome } from './outcome';
export { CanaryPolicy, CurrentPolicy, PolicyUpdated, StepMetrics, TrainerSettings } from './policy';
export {
  PolicyVersion,
  Reward,
  Score,
  SessionId,
  Tenant,
  TextMessage,
  Timestamp,
  TurnId,
  type Envelope,
} from './primitives';
export { LedgerStatus, StatusQuery } from './ledger-status';
export {
  DeadLetterAnswer,
  DeadLetterId,
  DeadLetterOutcome,
  DeadLetterQuery,
  DeadLetterReplay,
  DeadLetterRow,
  DeadLettersPage,
  DeadLettersQuery,
  JudgeDay,
  JudgeQuery,
  JudgeStatistics,
  StepRow,
  StepsPage,
  StepsQuery,
  VersionRow,
  VersionState,
  VersionsPage,
  VersionsQuery,
} from './ledger-training';
export {
  Cursor,
  GateCase,
  LedgerDecision,
  LedgerVote,
  Scope,
  TurnDetail,
  TurnDetailAnswer,
  TurnDetailQuery,
  TurnRow,
  TurnState,
  TurnTokens,
  TurnsPage,
  TurnsQuery,
} from './ledger-turns';
export {
  LedgerOverview,
  OverviewQuery,
  RollbackAnswer,
  RollbackWish,
  ServiceReport,
  ServicesQuery,
  Setting,
} from './overview';
export { TurnAnswer, TurnQuery, TurnStory, commands, queries, surveys, type QueryName, type SurveyName } from './query';
export {
  buckets,
  contractOf,
  contracts,
  deadSubject,
  durableName,
  messageSchema,
  streams,
  type AppName,
  type BodyOf,
  type BucketName,
  type ContractName,
  type MessageOf,
  type Publisher,
} from './registry';
export { Method, RefusedSample, RewardSource, Sample, SampleCase } from './sample';
export { TrainedSample } from './trained';
export {
  CapturedTurn,
  ClosedTurn,
  EvalVote,
  Feedback,
  HintVote,
  HintedTurn,
  PairedTurn,
  ScoredTurn,
  TeacherFailure,
  UnhintedTurn,
  UntrainableReason,
  Verdict,
} from './turn';
export { decodeTopK, encodeTopK, type TopK } from './top-k';
export {
  EncodedArray,
  EncodedIds,
  EncodedLogProbs,
  EncodedNumbers,
  assertIds,
  assertLogProbs,
  decodeIds,
  decodeLogProbs,
  decodeNumbers,
  encodeIds,
  encodeLogProbs,
  encodeNumbers,
} from './typed-array';
export type { TraceContext } from './trace';
