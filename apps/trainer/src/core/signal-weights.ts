import { opdAdvantages, type SignalWeights } from '@hindcast/advantage';
import { globalNorm } from './adam';
import type { Hyperparameters } from './hyperparameters';
import type { BatchGradients } from './policy-model';
import type { Progress } from './progress';
import { balancedRatio, scheduledWeights, spreadOf } from './signal-balance';
import type { TrainingSample } from './training-sample';

/**
 * The weights of the two signals in this step. `W_RL` and `W_OPD` multiply whatever the balance chooses, so that they mean the
 * same in every mode.
 *
 * @param gradientsOf gradients of the clipped surrogate alone under the given weights; only called for `gradient-norm`
 */
export async function chooseWeights(
  hyper: Pick<Hyperparameters, 'balance' | 'wRl' | 'wOpd'>,
  progress: Progress,
  step: number,
  samples: readonly TrainingSample[],
  gradientsOf: (weights: SignalWeights) => Promise<BatchGradients>,
): Promise<{ weights: SignalWeights; signalRatio: number }> {
  const { wRl, wOpd } = hyper;
  const scaled = ({ rl, opd }: SignalWeights): SignalWeights => ({ rl: wRl * rl, opd: wOpd * opd });
  const previous = progress.signalRatio;
  switch (hyper.balance) {
    case 'fixed':
      return { weights: { rl: wRl, opd: wOpd }, signalRatio: previous };
    case 'schedule':
      return { weights: scaled(scheduledWeights(step)), signalRatio: previous };
    case 'variance': {
      const ratio = balancedRatio(rewardSpread(samples), teacherSpread(samples), previous);
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

/** σ_rl over the tokens of the samples that have a reward. */
function rewardSpread(samples: readonly TrainingSample[]): number | null {
  const rewarded = samples.filter(({ reward }) => reward !== 0);
  return spreadOf(rewarded.map(({ reward, responseIds }) => Array.from(responseIds, () => reward)))?.std ?? null;
}

/** σ_opd over the tokens of the samples that have a teacher. */
function teacherSpread(samples: readonly TrainingSample[]): number | null {
  const taught = samples.filter(({ teacherLogProbs }) => teacherLogProbs !== null);
  return spreadOf(taught.map((s) => opdAdvantages(s.rolloutLogProbs, s.teacherLogProbs)))?.std ?? null;
}
