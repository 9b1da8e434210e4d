export { combinedAdvantages, opdAdvantages, type SignalWeights } from './advantages';
export { gate, type Decision, type GateRule, type JudgedTurn, type Method, type SampleCase } from './gate';
export {
  MIN_HINT_CODE_POINTS,
  isTrainableScore,
  majorityScore,
  parseEvalVote,
  parseHintVote,
  selectHint,
  type ParsedHintVote,
  type Score,
} from './votes';
