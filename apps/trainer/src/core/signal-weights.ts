import type { SignalWeights } from '@hindcast/advantage';
import { globalNorm } from './adam';
import { sampleAdvantages, type AdvantageOptions } from './advantages';
import type { Hyperparameters } from './hyperparameters';
import type { BatchGradients } from './policy-model';
import type { Progress } from './progress';
import { balancedRatio, BALANCE_PRESETS, scheduledWeights, spreadOf } from './signal-balance';
import type { MeasuredBatch } from './step-numbers';
import type { TrainingSample } from './training-sample';

/**
 * The weights of the two signals in this step. `W_RL` and `W_OPD` multiply whatever the balance chooses, so that they mean the
 * same in every mode.
 *
 *   fixed          the preset's
 *   schedule       by the number of steps taken
 *   variance       w_opd / w_rl = σ_rl / σ_opd over the tokens of the samples that carry the signal
 *   gradient-norm  w_opd / w_rl = ‖∇L_rl‖ / ‖∇L_opd‖, each loss with that signal alone
 *
 * @param gradientsOf gradients of the clipped surrogate alone under the given weights; only called for `gradient-norm`
 */
export async function chooseWeights(
  hyper: Pick<Hyperparameters, 'balance' | 'preset' | 'wRl' | 'wOpd'>,
  progress: Progress,
  measured: MeasuredBatch,
  options: AdvantageOptions,
  gradientsOf: (weights: SignalWeights) => Promise<BatchGradients>,
): Promise<{ weights: SignalWeights; signalRatio: number }> {
  const scaled = (weights: SignalWeights): SignalWeights => scaledBy(hyper, weights);
  const previous = progress.signalRatio;
  switch (hyper.balance) {
    case 'fixed':
      return { weights: scaled(BALANCE_PRESETS[hyper.preset]), signalRatio: previous };
    case 'schedule':
      return { weights: scaled(scheduledWeights(progress.steps)), signalRatio: previous };
    case 'variance': {
      const spread = (only: SignalWeights, carries: (sample: TrainingSample) => boolean): number | null =>
        signalSpread(measured, only, options, carries);
      const rl = spread({ rl: 1, opd: 0 }, ({ reward }) => reward !== 0);
      const opd = spread({ rl: 0, opd: 1 }, ({ teacherLogProbs }) => teacherLogProbs !== null);
      const ratio = balancedRatio(rl, opd, previous);
      return { weights: scaled({ rl: 1, opd: ratio }), signalRatio: ratio };
    }
    case 'gradient-norm': {
      const rl = globalNorm((await gradientsOf({ rl: 1, opd: 0 })).gradients);
      const opd = globalNorm((await gradientsOf({ rl: 0, opd: 1 })).gradients);
      const ratio = balancedRatio(rl, opd, previous);
      return { weights: scaled({ rl: 1, opd: ratio }), signalRatio: ratio };
    }
  }
}

/**
 * The weights that samples of now are weighed with: fixed ones, else those of the last step by its metrics; `null` before the first.
 */
export function weightsInUse(
  hyper: Pick<Hyperparameters, 'balance' | 'preset' | 'wRl' | 'wOpd'>,
  lastMetrics: Readonly<Record<string, number>> | null,
): SignalWeights | null {
  if (hyper.balance === 'fixed') return scaledBy(hyper, BALANCE_PRESETS[hyper.preset]);
  const { w_rl: rl, w_opd: opd } = lastMetrics ?? {};
  return rl === undefined || opd === undefined ? null : { rl, opd };
}

const scaledBy = ({ wRl, wOpd }: Pick<Hyperparameters, 'wRl' | 'wOpd'>, { rl, opd }: SignalWeights): SignalWeights => ({
  rl: wRl * rl,
  opd: wOpd * opd,
});

/** Standard deviation of one signal's advantages over the tokens of the samples that carry it; `null` when none does. */
function signalSpread(
  { samples, oldLogProbs }: MeasuredBatch,
  only: SignalWeights,
  options: AdvantageOptions,
  carries: (sample: TrainingSample) => boolean,
): number | null {
  const advantages = samples.flatMap((sample, i) =>
    carries(sample) ? [sampleAdvantages(sample, oldLogProbs[i]!, only, options)] : [],
  );
  return spreadOf(advantages)?.std ?? null;
}
