/** Why a turn was or was not trained, in one sentence; docs/turn-reasons.md has them in full, with what to do. */
const REASONS: Readonly<Record<string, string>> = {
  'reward-not-finite': 'The reward is no number.',
  'at-least-one': 'Binary RL keeps one turn of reward 0 per session; its gradient is 0.',
  'outcome-expired': 'The session’s outcome did not come in time; the turn’s own score decided.',
  'no-signal': 'Neither a reward that is not 0, nor a hint.',
  'no-hint': 'This method trains on hints alone, and none was accepted.',
  'method-none': 'Nothing trains: METHOD=none.',
  stale: 'The answer’s version is too many versions old.',
  'guard:repetition': 'Rewarded, but the answer repeats itself.',
  'guard:format': 'Rewarded, but the answer’s form looks like a trick.',
  'reward-out-of-range': 'An outcome with its step scores is beyond ±100.',
  'capture-missing': 'The capture expired before the turn was judged.',
  'capture-malformed': 'The capture cannot be read.',
  'too-large': 'It is larger than the broker takes.',
  forgotten: 'It was deleted on request.',
  'refused:stale': 'It was too old when its batch began.',
  'refused:non-finite': 'The policy’s log-probs of it are no numbers.',
  'refused:over-token-budget': 'It is longer than a training pass takes.',
  'refused:out-of-vocabulary': 'It has ids that the trained model does not know.',
  'unpublishable:no-recording': 'Its recording was deleted before it was sent.',
  expired: 'Nobody continued the conversation in time.',
  superseded: 'The answer was asked for again in the same session.',
  failed: 'The answer broke off, or its client went away.',
  'dropped-from-spool': 'The spool was full while the broker was away.',
  'no-token-ids': 'The engine gave no ids of the sampled tokens.',
  'no-prompt-ids': 'The engine gave no ids of the prompt.',
  'no-log-probs': 'The engine gave no log-probs.',
  'length-mismatch': 'There are not as many log-probs as ids.',
  'non-finite-log-probs': 'A log-prob is no number, or a placeholder.',
  'ambiguous-tokens': 'The ids could not be told from the tokens’ bytes.',
  'prompt-mismatch': 'The template gives another number of prompt tokens than the engine counted.',
  'empty-answer': 'Nothing was sampled.',
  'malformed-stream': 'The engine’s stream was no chat completion.',
  'content-filter': 'The engine’s filter ended the answer.',
  truncated: 'The length limit ended the answer.',
  redacted: 'Personal data was cut out, and the ids would still hold it.',
  'off-policy:weights': 'The engine’s weights may have been replaced while it answered.',
  'teacher:capture-missing': 'The capture was gone when the teacher wanted it.',
  'teacher:template-mismatch': 'The teacher’s template does not give the captured prompt.',
  'teacher:vocabulary-mismatch': 'Policy and teacher have different vocabularies.',
  'teacher:length-mismatch': 'There are not as many teacher log-probs as sampled ids.',
  'teacher:non-finite': 'A teacher log-prob is no number.',
  'teacher:ids-mismatch': 'The engine scored other ids than the sampled ones.',
  'teacher:too-long': 'With the hint, the prompt does not fit into the teacher’s context.',
  'teacher:refused-by-engine': 'The teacher’s engine refused the call.',
};

const FAMILIES: readonly (readonly [prefix: string, sentence: string])[] = [
  ['off-policy:', 'The log-probs are not those of what sampled the answer'],
  ['dead-letter:', 'A message about it failed for good'],
  ['unpublishable:', 'The sample could not be sent'],
  ['teacher:', 'The teacher failed for good'],
  ['refused:', 'The trainer refused it'],
  ['guard:', 'Rewarded, but a guard found something in the answer'],
];

/** In words; `null` for a reason that this page does not know. */
export function reasonText(reason: string): string | null {
  const known = Object.hasOwn(REASONS, reason) ? REASONS[reason]! : null;
  if (known !== null) return known;
  const family = FAMILIES.find(([prefix]) => reason.startsWith(prefix));
  return family === undefined ? null : `${family[1]} (${reason.slice(family[0].length)}).`;
}
