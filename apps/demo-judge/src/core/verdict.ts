import { hints, random, wishes, type Wish } from '@hindcast/seed-world';
import { readReaction } from './read-reaction';
import type { JudgeRequest } from './read-request';

/**
 * How unreliable the judge is; probabilities. Drawn once per answer from the seed and the texts, so that all votes on an answer,
 * and every repetition of a request, agree.
 */
export interface Noise {
  /** The score's sign is turned. */
  readonly flip: number;
  /** The score is 0 in spite of a clear reaction. */
  readonly zero: number;
  /** A complaint that names its wish yields a hint. */
  readonly hint: number;
  /** A hint of a random kind where none is due. */
  readonly falseHint: number;
}

/** Noise of the three feedback settings, and none at all. */
export const noises = {
  none: { flip: 0, zero: 0, hint: 1, falseHint: 0 },
  explicit: { flip: 0.02, zero: 0, hint: 0.95, falseHint: 0 },
  mixed: { flip: 0.05, zero: 0.05, hint: 0.9, falseHint: 0.03 },
  implicit: { flip: 0.05, zero: 0.05, hint: 0.9, falseHint: 0.03 },
} as const satisfies Record<string, Noise>;

export interface Verdict {
  readonly score: -1 | 0 | 1;
  readonly hint: string | null;
}

/** The judge's opinion of an answer, by what the user said next. */
export function verdict(request: JudgeRequest, noise: Noise, seed: number): Verdict {
  const reaction = request.nextState.findLast((message) => message.role === 'user')?.text ?? '';
  const { verdict: reading, wish } = readReaction(reaction);
  const draw = random(`${seed}/${request.answer}/${reaction}`);

  let hint = wish !== null && draw.chance(noise.hint) ? draw.pick(hints[wish].heldOut) : null;
  if (hint === null && draw.chance(noise.falseHint)) hint = draw.pick(hints[draw.pick<Wish>(wishes)].heldOut);

  const score = reading === 'approves' ? 1 : reading === 'rejects' ? -1 : 0;
  const x = draw.next();
  if (x < noise.flip) return { score: score === 0 ? 0 : score === 1 ? -1 : 1, hint };
  if (x < noise.flip + noise.zero) return { score: 0, hint };
  return { score, hint };
}

/** The reply in the protocol that a judge answers in. */
export function replyText(request: JudgeRequest, { score, hint }: Verdict): string {
  if (request.asks === 'score') return `Judged by the words of the reaction.\n\\boxed{${score}}`;
  return hint === null ? 'The reaction reveals nothing.\n\\boxed{-1}' : `\\boxed{1}\n[HINT_START]${hint}[HINT_END]`;
}
