const floor = 2e-5;
const warmUpSteps = 100;
/** Share of its descent over which the learning rate of a later descent rises. */
const rampShare = 0.02;

/** Descents of the learning rate along a cosine, each with its share of the token budget. */
const descents = [
  { peak: 4e-3, share: 0.4 },
  { peak: 3e-3, share: 0.4 },
  { peak: 2e-3, share: 0.2 },
] as const;

/** Hints come in fewer wordings before so many tokens: until the last descent. */
export function earlyTokens(tokenBudget: number): number {
  return 0.8 * tokenBudget;
}

/**
 * Learning rate of the next step.
 * @param step steps taken so far: the rate rises over the first 100
 * @param tokens tokens trained on so far, of `tokenBudget`
 */
export function learningRate(step: number, tokens: number, tokenBudget: number): number {
  let begin = 0;
  for (const { peak, share } of descents) {
    const within = (tokens - begin) / (share * tokenBudget);
    const rise = begin === 0 ? (step + 1) / warmUpSteps : within / rampShare;
    if (within < 1) return peak * Math.min(1, rise) * (0.5 + 0.5 * Math.cos(Math.PI * within)) + floor;
    begin += share * tokenBudget;
  }
  return floor;
}
