import {
  decodeLogProbs,
  encodeNumbers,
  type ShownTurn,
  type TrainerSettings,
  type TurnDetail,
} from '@hindcast/contracts';
import { combinedAdvantages } from '@hindcast/advantage';

/**
 * A = w_rl · r + w_opd · (log π_T − log π_rollout), for a turn that waits to be trained; `null` for every other one, and where the
 * trainer has not said its weights. The step itself may weigh differently, and takes π_old of its own where rollout and trainer differ.
 */
export function expectedAdvantages(detail: TurnDetail, trainer: TrainerSettings | null): ShownTurn['expected'] {
  const { turn, decision, tokens, trained } = detail;
  if (!tokens || !decision || trained || turn.state !== 'decided' || decision.case === 'drop') return null;
  const wRl = trainer?.wRl ?? null;
  const wOpd = trainer?.wOpd ?? null;
  if (wRl === null || wOpd === null) return null;
  const teacher = decision.case === 'rl' ? null : tokens.teacher;
  const weights = { rl: wRl, opd: wOpd };
  const rollout = decodeLogProbs(tokens.rollout);
  const advantages = combinedAdvantages(decision.reward ?? 0, rollout, teacher && decodeLogProbs(teacher), weights);
  return { advantages: encodeNumbers(advantages), wRl, wOpd };
}
