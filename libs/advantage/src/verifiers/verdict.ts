/** A message after the answer, as a verifier reads it. */
export interface NextStateMessage {
  readonly role: string;
  readonly text: string;
  readonly toolName: string | null;
}

/** What a verifier reads of a turn. */
export interface VerifiableTurn {
  /** The answer's text with its tool calls. */
  readonly answer: string;
  /** Every message after the answer, in order. */
  readonly nextState: readonly NextStateMessage[];
  /** What the answer is compared with, as the client gave it. */
  readonly groundTruth: string | null;
}

/** What a verifier made of a turn. */
export interface Verdict {
  readonly verifier: string;
  /** −1 failed, +1 worked; `null` abstains. */
  readonly score: -1 | 0 | 1 | null;
  /** What was read, or why it abstains. */
  readonly detail: string;
}

/** Scores a turn without a model: the same turn always gives the same verdict. */
export type Verifier = (turn: VerifiableTurn) => Verdict;

/** Longest detail, characters. */
const DETAIL_CHARS = 500;

/** Verdicts of one verifier, under its name. */
export function verdictsOf(verifier: string) {
  const verdict =
    (score: -1 | 1 | null) =>
    (detail: string): Verdict => ({ verifier, score, detail: detail.slice(0, DETAIL_CHARS) });
  return { passed: verdict(1), failed: verdict(-1), abstained: verdict(null) };
}
