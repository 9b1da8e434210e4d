/** How a token is drawn. Filters apply in this order: temperature, topK, topP, minP. */
export interface SamplingOptions {
  /** Default 1; 0 takes the most probable token, the lowest id on a tie. */
  readonly temperature?: number;
  /** Keep the k most probable tokens. Default 0: all. */
  readonly topK?: number;
  /** Keep the fewest most probable tokens that together have at least this share of what topK kept. Default 1: all. */
  readonly topP?: number;
  /** Drop tokens less probable than this share of the most probable one. Default 0. */
  readonly minP?: number;
}

export interface SampledToken {
  readonly id: number;
  /** log π(id) of the untouched distribution (T = 1, nothing filtered), nats. */
  readonly logProb: number;
}

/**
 * Draws one token by inversion: in order of id, the first kept token whose cumulated probability exceeds u · (kept total), for one
 * u = `uniform()`. All sums in float64. The same logits, options and u give the same token; temperature 0 draws no u.
 *
 * @param logits `[vocabSize]` logits, or log-probs (their log-softmax is the same); −∞ switches a token off; NaN and +∞ are errors
 */
export function sampleToken(logits: Float32Array, options: SamplingOptions, uniform: () => number): SampledToken {
  const { temperature = 1, topK = 0, topP = 1, minP = 0 } = options;
  if (!(temperature >= 0)) throw new RangeError(`temperature ${temperature} is not a number from 0 on`);
  if (!(topP > 0 && topP <= 1)) throw new RangeError(`topP ${topP} is not in (0, 1]`);
  const best = mostProbable(logits);
  const largest = logits[best] as number;
  const logTotal = logSumExp(logits, largest);
  const chosen = (id: number): SampledToken => ({ id, logProb: Math.min(0, (logits[id] as number) - logTotal) });
  if (temperature === 0) return chosen(best);

  // A loop, not Float64Array.from: this runs once per token over the whole vocabulary.
  const weights = new Float64Array(logits.length);
  for (let id = 0; id < weights.length; id++) weights[id] = Math.exp(((logits[id] as number) - largest) / temperature);
  if (topK > 0 || topP < 1) keepMostProbable(weights, topK > 0 ? topK : weights.length, topP);
  if (minP > 0) for (let id = 0; id < weights.length; id++) if ((weights[id] as number) < minP) weights[id] = 0;
  return chosen(invert(weights, uniform()));
}

/** log-softmax at T = 1, nats. */
export function logSoftmax(logits: Float32Array): Float32Array {
  const logTotal = logSumExp(logits, logits[mostProbable(logits)] as number);
  return logits.map((logit) => logit - logTotal);
}

/** The `count` most probable tokens, most probable first, lower id first on a tie. */
export function topTokens(logProbs: Float32Array, count: number): SampledToken[] {
  return byProbability(logProbs)
    .slice(0, count)
    .map((id) => ({ id, logProb: logProbs[id] as number }));
}

function mostProbable(logits: Float32Array): number {
  let best = 0;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id] as number;
    if (Number.isNaN(logit) || logit === Infinity) throw new RangeError(`logit ${id} is ${logit}`);
    if (logit > (logits[best] as number)) best = id;
  }
  if (!Number.isFinite(logits[best])) throw new RangeError('no token has a finite logit');
  return best;
}

function logSumExp(logits: Float32Array, largest: number): number {
  let sum = 0;
  for (let id = 0; id < logits.length; id++) sum += Math.exp((logits[id] as number) - largest);
  return largest + Math.log(sum);
}

function byProbability(values: Float32Array | Float64Array): number[] {
  return Array.from(values, (_, id) => id).sort((a, b) => (values[b] as number) - (values[a] as number) || a - b);
}

function keepMostProbable(weights: Float64Array, topK: number, topP: number): void {
  const order = byProbability(weights);
  const total = order.slice(0, topK).reduce((sum, id) => sum + (weights[id] as number), 0);
  let sum = 0;
  for (const [rank, id] of order.entries()) {
    if (rank >= topK || (rank > 0 && sum >= topP * total)) weights[id] = 0;
    else sum += weights[id] as number;
  }
}

function invert(weights: Float64Array, u: number): number {
  let total = 0;
  for (let id = 0; id < weights.length; id++) total += weights[id] as number;
  let sum = 0;
  let last = 0;
  for (let id = 0; id < weights.length; id++) {
    const weight = weights[id] as number;
    if (weight === 0) continue;
    sum += weight;
    last = id;
    if (sum > u * total) break;
  }
  return last;
}
