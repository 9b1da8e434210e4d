/** One of the most likely tokens of a position. */
export interface RankedToken {
  readonly id: number;
  /** Nats; raw: before temperature and top-p. */
  readonly logProb: number;
}

/** What the model thought of one token. */
export interface TokenScore extends RankedToken {
  /** 1 for the most likely token of the vocabulary. Equally likely tokens share the worse rank. */
  readonly rank: number;
  /** The `count` most likely tokens that were asked for, best first. */
  readonly top: readonly RankedToken[];
}

/** Scores token `id` of one position. RangeError when the token has no finite or −∞ log-probability (a broken model). */
export function scoreToken(logProbs: Float32Array, id: number, count: number): TokenScore {
  const logProb = logProbs[id];
  if (logProb === undefined) throw new RangeError(`token ${id} is outside a vocabulary of ${logProbs.length}`);
  if (Number.isNaN(logProb)) throw new RangeError(`the model gave NaN for token ${id}`);
  let rank = 0;
  for (let i = 0; i < logProbs.length; i++) if (logProbs[i]! >= logProb) rank++;
  return { id, logProb, rank, top: mostLikely(logProbs, count) };
}

/** The `count` most likely tokens, best first; of equally likely ones the smaller id comes first. */
export function mostLikely(logProbs: Float32Array, count: number): RankedToken[] {
  const best: { id: number; logProb: number }[] = [];
  if (count <= 0) return best;
  for (let id = 0; id < logProbs.length; id++) {
    const logProb = logProbs[id]!;
    if (best.length === count && logProb <= best[count - 1]!.logProb) continue;
    let at = best.length;
    while (at > 0 && best[at - 1]!.logProb < logProb) at--;
    best.splice(at, 0, { id, logProb });
    if (best.length > count) best.pop();
  }
  return best;
}
