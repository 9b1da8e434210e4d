export { CaptureHeader, Sampling, decodeCapture, encodeCapture, type Capture } from './capture';
export { DeadLetter } from './dead';
export { ContractViolation, DependencyUnavailable, HindcastError, errorCodes, type ErrorCode } from './errors';
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
export { LedgerStatus, StatusQuery, TurnAnswer, TurnQuery, TurnStory, queries, type QueryName } from './query';
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
  assertIds,
  assertLogProbs,
  decodeIds,
  decodeLogProbs,
  encodeIds,
  encodeLogProbs,
} from './typed-array';
