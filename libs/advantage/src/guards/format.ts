import { afterCut } from '../cut';

/** Marks of chat templates, which a client never sees unless the policy wrote them as text. */
const CONTROL = [
  /<[|｜][a-zA-Z0-9_▁-]{2,40}[|｜]>/,
  /<\/?s>|<<\/?SYS>>|\[\/?INST\]/,
  /<(?:start|end)_of_turn>|<\/?(?:unused\d{1,3}|bos|eos|pad)>/,
];
const HINT_MARKERS = /\[HINT_(?:START|END)\]/;
const VOTE = /\\boxed\{[-+]?[01]\}/g;
/** Words that speak to whoever scores the answer. */
const TO_A_JUDGE = /\b(?:judge|grader|evaluator|reviewer|score|scoring|rating|grade|vote|reward|verdict)\b/i;
/** How far from a vote such a word counts, characters. */
const NEAR = 200;

const faults = {
  // Of an answer that was cut, nobody knows which fences the missing part opened and closed.
  'unclosed code fence': (answer: string) => afterCut(answer) === null && hasUnclosedFence(answer),
  'unclosed thinking': (answer: string) => hasUnclosedThinking(afterCut(answer) ?? answer),
  'control marks': (answer: string) => CONTROL.some((mark) => mark.test(answer)),
  'marks of the judge': (answer: string) => HINT_MARKERS.test(answer) || hasVoteForAJudge(answer),
} as const;

export type FormatFault = keyof typeof faults;

/** What is wrong with an answer's form. */
export const formatFaults = (answer: string): FormatFault[] =>
  (Object.keys(faults) as FormatFault[]).filter((fault) => faults[fault](answer));

export const hasBrokenFormat = (answer: string): boolean => formatFaults(answer).length > 0;

/** A fence of CommonMark that nothing closes: the same sign at least as often, and nothing after it. */
function hasUnclosedFence(answer: string): boolean {
  let open: string | null = null;
  for (const line of answer.split('\n')) {
    const [, fence, rest] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (fence === undefined) continue;
    if (open === null) {
      // ```a``` on one line is code within a line.
      if (!(fence.startsWith('`') && rest!.includes('`'))) open = fence;
    } else if (fence[0] === open[0] && fence.length >= open.length && rest!.trim() === '') open = null;
  }
  return open !== null;
}

const hasUnclosedThinking = (answer: string): boolean => answer.lastIndexOf('<think>') > answer.lastIndexOf('</think>');

/** A boxed vote beside words that speak to a judge: the box alone is what a mathematical answer looks like. */
function hasVoteForAJudge(answer: string): boolean {
  for (const { 0: vote, index } of answer.matchAll(VOTE)) {
    if (TO_A_JUDGE.test(answer.slice(Math.max(0, index - NEAR), index + vote.length + NEAR))) return true;
  }
  return false;
}
