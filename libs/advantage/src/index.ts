export { agreement, type AgreementReport, type ScoredPair } from './agreement';
export { combinedAdvantages, opdAdvantages, type SignalWeights } from './advantages';
export { gate, type Decision, type GateRule, type JudgedTurn, type Method, type SampleCase } from './gate';
export { GUARD_NAMES, guardHits, type GuardName } from './guards/guard-hits';
export { lengthRewardCorrelation, type LengthCorrelation, type LengthSample } from './length-correlation';
export { sessionRewards, type RewardMode, type SessionRewardRule, type StepScore } from './session-rewards';
export { withoutThinking } from './thinking';
export { VERIFIER_NAMES, verify, type VerifierName } from './verifiers/verify';
export type { NextStateMessage, Verdict, VerifiableTurn } from './verifiers/verdict';
export {
  MIN_HINT_CODE_POINTS,
  isTrainableScore,
  majorityScore,
  parseEvalVote,
  parseHintVote,
  quorateScore,
  selectHint,
  type ParsedHintVote,
  type Score,
} from './votes';
