import { sampleToken } from '@hindcast/language-model';
import { EXP_ERROR, expNonPositive } from './fast-exp';
import type { SamplingRequest } from './generation-fields';
import { keepNucleus } from './nucleus';

/** A sum of weights is off by no more than this share of their total: EXP_ERROR, and float64 rounding. */
const SUM_ERROR = 4 * EXP_ERROR;

/**
 * Draws tokens for one answer; the ids are exactly those of `sampleToken` of libs/language-model. They are drawn here with weights
 * that are a little off, which decides nearly every draw; the few that lie too close to call are drawn again there.
 * This runs for every token served.
 *
 * @param uniform one number in [0, 1) per token; not called at temperature 0
 */
export function drawer(sampling: SamplingRequest, uniform: () => number): (logProbs: Float32Array) => number {
  const { temperature, topP, topK } = sampling;
  const exactly = (logProbs: Float32Array, u: () => number): number =>
    sampleToken(logProbs, { temperature, topP, topK }, u).id;
  if (temperature === 0) return (logProbs) => exactly(logProbs, uniform);
  const isFiltered = topP < 1 || topK > 0;
  let weights = new Float64Array();
  return (logProbs) => {
    if (weights.length !== logProbs.length) weights = new Float64Array(logProbs.length);
    const total = weigh(logProbs, temperature, weights);
    if (!(total > 0 && total < Infinity)) throw new RangeError('the model gave log-probabilities that are no numbers');
    const u = uniform();
    const kept = isFiltered ? keepNucleus(weights, topK, topP, SUM_ERROR) : total;
    const id = kept === null ? null : certainDraw(weights, u * kept, SUM_ERROR * total);
    return id ?? exactly(logProbs, () => u);
  };
}

/** Fills `weights` with e^((logProb − best) / temperature), nearly; their sum. */
function weigh(logProbs: Float32Array, temperature: number, weights: Float64Array): number {
  let best = -Infinity;
  for (let id = 0; id < logProbs.length; id++) if (logProbs[id]! > best) best = logProbs[id]!;
  const perNat = 1 / temperature;
  let total = 0;
  for (let id = 0; id < logProbs.length; id++) {
    const weight = expNonPositive((logProbs[id]! - best) * perNat);
    weights[id] = weight;
    total += weight;
  }
  return total;
}

/** The first id whose cumulated weight exceeds `limit`, or null where another could within `error`. */
function certainDraw(weights: Float64Array, limit: number, error: number): number | null {
  const least = limit - error;
  let sum = 0;
  for (let id = 0; id < weights.length; id++) {
    const before = sum;
    sum += weights[id]!;
    if (sum > least) return before <= least && sum > limit + error ? id : null;
  }
  return null;
}
