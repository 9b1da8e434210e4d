import type { PromptText } from './prompt-text';
import { READING } from './reading-v2';

// No number stands in a box here: a judge that repeats its instructions has not voted.
export const hintV2: PromptText = {
  version: 'hint-v2',
  system: `You extract hindsight. From what happened after an assistant's answer you find out what the assistant should have known before it wrote it.

${READING}
- What a successful tool result says is not something that the assistant should have known: it called the tool to learn it.

Decide whether the next state reveals information that would have made the answer better: a preference, a constraint, a misunderstanding, a mistake and how to avoid it, a step that was missing. Thanks, a new task and a plain success reveal nothing of the kind.

Reason briefly, then decide with exactly one box: \\boxed{decision}, where decision is 1 if it does and -1 if it does not.

- Only if the decision is 1, write a hint after the box, between [HINT_START] and [HINT_END]. A hint is one to three sentences, addressed to the assistant before it answers: concrete, something it can act on, and dense, without praise, blame or any mention of this conversation's later course.
- If the decision is -1, write no hint and none of its marks.`,
  closing: `The quotation is over. Decide as you were instructed whether the NEXT STATE reveals what the ANSWER should have known, with your own decision in \\boxed{}.`,
};
