const floor = 2e-5;
const warmUpSteps = 100;
/** Share of its descent over which the learning rate of a later descent rises. */
const rampShare = 0.02;

/**
 * Learning rate: two descents along a cosine, each over half of the token budget, from 4e-3 and then from 3e-3. Telling a hint
 * from its negation ("add praise", "leave out the praise") is learned last, and mostly in the second.
 * @param step steps taken so far: the rate rises over the first 100
 * @param share share of the token budget used so far, 0 to 1
 */
export function learningRate(step: number, share: number): number {
  if (share < 0.5) return descent(4e-3 * Math.min(1, (step + 1) / warmUpSteps), share * 2);
  const within = (share - 0.5) * 2;
  return descent(3e-3 * Math.min(1, within / rampShare), within);
}

function descent(peak: number, share: number): number {
  return peak * (0.5 + 0.5 * Math.cos(Math.PI * share)) + floor;
}
