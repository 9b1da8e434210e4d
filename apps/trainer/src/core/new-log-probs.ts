import { assertLogProbs } from '@hindcast/contracts';
import type { PolicyModel, Tokens } from './policy-model';
import type { TrainedWeights } from './tuning';

/**
 * log π_θ of each response under the weights that a step made, `[R]` nats: one forward pass, cut into the same micro-batches as the step.
 * `null` for a sample of which one is no log-prob: its step stands all the same.
 */
export async function newLogProbs(
  model: Pick<PolicyModel, 'responseLogProbs'>,
  samples: readonly Tokens[],
  weights: TrainedWeights,
): Promise<(Float32Array | null)[]> {
  const all = await model.responseLogProbs(samples, weights);
  return all.map((logProbs) => (areLogProbs(logProbs) ? logProbs : null));
}

function areLogProbs(values: Float32Array): boolean {
  try {
    assertLogProbs(values);
    return true;
  } catch {
    return false;
  }
}
