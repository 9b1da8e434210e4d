// The seed model's little world: what is asked and answered in it, how users react, and what counts as a good answer.
// Pure: every function depends on its arguments alone.
export { hashText, random, type Random } from './random';
export { heldOutQuestions, isHeldOut, question, type Question, type Topic } from './question';
export { drawStyle, opposites, type Style, type Wish, wishes } from './style';
export { answer } from './answer';
export { earlyWordings, hints, hintTag, type HintWordings } from './hints';
export { complaints, neutralReplies, systemPrompts, thanks, vagueComplaints } from './replies';
export {
  hasPraise,
  isFormatted,
  longFromTokens,
  type Persona,
  personas,
  ruleMet,
  shortBelowTokens,
  wishMet,
  wishOf,
} from './rules';
export { correct, wellFormed } from './form';
export { conversation, type TrainingDocument, type TrainingMessage } from './conversation';
