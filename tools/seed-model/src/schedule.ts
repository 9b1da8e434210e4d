const peak = 4e-3;
const floor = 2e-5;
const warmUpSteps = 100;

/**
 * Learning rate: rises over the first 100 steps, then falls along a cosine to almost nothing at the end of the budget.
 * @param step steps taken so far
 * @param share share of the token budget used so far, 0 to 1
 */
export function learningRate(step: number, share: number): number {
  return peak * Math.min(1, (step + 1) / warmUpSteps) * (0.5 + 0.5 * Math.cos(Math.PI * share)) + floor;
}
