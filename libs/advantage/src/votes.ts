import { withoutThinking } from './thinking';

/** A score that a vote can give: −1 failed, 0 unknown, +1 worked. */
export type Score = -1 | 0 | 1;

/** A parsed hint vote; `score` is `null` when the vote is unreadable and abstains. */
export interface ParsedHintVote {
  readonly score: -1 | 1 | null;
  /** Text between the hint markers, trimmed; empty when there is none. */
  readonly hint: string;
}

/** Shortest accepted hint, in code points; shorter ones ("fix it") say nothing a teacher could use. */
export const MIN_HINT_CODE_POINTS = 11;

// ASCII digits only: a full-width digit is not a vote.
const BOXED = /\\boxed\{([-+]?[0-9])\}/g;
const HINT_START = '[HINT_START]';
const HINT_END = '[HINT_END]';

/**
 * Score of an eval vote: the last `\boxed{…}` of the text that holds one signed digit. What stands in `<think>` is no vote.
 * @returns −1, 0 or 1; `null` (abstains) when there is no box, the last box holds anything else, or the thinking never ended.
 */
export function parseEvalVote(text: string): Score | null {
  const value = lastBoxed(withoutThinking(text) ?? '');
  return value === -1 || value === 0 || value === 1 ? value : null;
}

/**
 * Score (−1 or 1; 0 is no hint score) and hint of a hint vote: the last box and the last complete hint block. What stands in `<think>` is
 * neither; a vote whose thinking never ended abstains.
 */
export function parseHintVote(text: string): ParsedHintVote {
  const said = withoutThinking(text) ?? '';
  const value = lastBoxed(said);
  return { score: value === -1 || value === 1 ? value : null, hint: lastHint(said) };
}

/** Majority of the readable votes; a tie for the highest count, or no readable vote, is 0. */
export function majorityScore(votes: readonly (Score | null)[]): Score {
  const counts = new Map<Score, number>();
  for (const vote of votes) if (vote !== null) counts.set(vote, (counts.get(vote) ?? 0) + 1);
  const [first, second] = [...counts].sort(([, a], [, b]) => b - a);
  return first === undefined || first[1] === second?.[1] ? 0 : first[0];
}

/** {@link majorityScore} of the votes; 0 when fewer than `quorum` of them can be read. */
export function quorateScore(votes: readonly (Score | null)[], quorum: number): Score {
  return votes.filter((vote) => vote !== null).length >= quorum ? majorityScore(votes) : 0;
}

/**
 * The accepted hint: the longest (code points; then the first) of the votes that say +1 with a usable hint.
 *
 * `any` accepts when one vote is enough, as the original does; `majority` needs more than half of the readable votes to say +1.
 * @returns the trimmed hint, or `null` when none is accepted
 */
export function selectHint(votes: readonly ParsedHintVote[], acceptance: 'any' | 'majority' = 'any'): string | null {
  const readable = votes.filter((vote) => vote.score !== null);
  const positive = readable.filter((vote) => vote.score === 1);
  if (acceptance === 'majority' && positive.length * 2 <= readable.length) return null;
  let best: string | null = null;
  for (const vote of positive) {
    const hint = vote.hint.trim();
    const length = codePoints(hint);
    if (length >= MIN_HINT_CODE_POINTS && (best === null || length > codePoints(best))) best = hint;
  }
  return best;
}

/** A score trains only when it is the number −1 or 1; `true` and the string `"1"` are not scores. */
export function isTrainableScore(score: unknown): score is -1 | 1 {
  return score === 1 || score === -1;
}

function lastBoxed(text: string): number | null {
  const digits = [...text.matchAll(BOXED)].at(-1)?.[1];
  if (digits === undefined) return null;
  const value = Number(digits);
  return value === 0 ? 0 : value; // Number('-0') is −0
}

// In one pass: a pattern would search the rest of the text again from every marker that has no end.
function lastHint(text: string): string {
  let hint = '';
  for (let at = 0; ;) {
    const start = text.indexOf(HINT_START, at);
    const end = start < 0 ? -1 : text.indexOf(HINT_END, start);
    if (end < 0) return hint.trim();
    hint = text.slice(start + HINT_START.length, end);
    at = end + HINT_END.length;
  }
}

const codePoints = (text: string): number => [...text].length;
