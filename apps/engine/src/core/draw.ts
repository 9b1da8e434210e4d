import { sampleToken } from '@hindcast/language-model';
import type { SamplingRequest } from './generation-fields';

/**
 * Draws tokens for one answer; the ids are exactly those of `sampleToken` of libs/language-model. Without filters the draw is done here,
 * in one buffer and without the log-probability, which the graph has computed already: this runs for every token served.
 *
 * @param uniform one number in [0, 1) per token; not called at temperature 0
 */
export function drawer(sampling: SamplingRequest, uniform: () => number): (logProbs: Float32Array) => number {
  const { temperature, topP, topK } = sampling;
  if (temperature === 0 || topP < 1 || topK > 0)
    return (logProbs) => sampleToken(logProbs, { temperature, topP, topK }, uniform).id;
  let weights = new Float64Array();
  return (logProbs) => {
    if (weights.length !== logProbs.length) weights = new Float64Array(logProbs.length);
    let best = -Infinity;
    for (let id = 0; id < logProbs.length; id++) if (logProbs[id]! > best) best = logProbs[id]!;
    let total = 0;
    for (let id = 0; id < logProbs.length; id++) {
      const weight = Math.exp((logProbs[id]! - best) / temperature);
      weights[id] = weight;
      total += weight;
    }
    if (!(total > 0 && total < Infinity)) throw new RangeError('the model gave log-probabilities that are no numbers');
    const limit = uniform() * total;
    let sum = 0;
    let last = 0;
    for (let id = 0; id < weights.length; id++) {
      if (weights[id] === 0) continue;
      sum += weights[id]!;
      last = id;
      if (sum > limit) break;
    }
    return last;
  };
}
