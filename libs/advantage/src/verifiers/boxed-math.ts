import { afterCut } from '../cut';
import { withoutThinking } from '../thinking';
import { lastBox } from './math/boxed';
import { isEquivalent } from './math/equivalent';
import { verdictsOf, type Verifier } from './verdict';

const { passed, failed, abstained } = verdictsOf('boxed-math');

/**
 * The last `\boxed{…}` of an answer against the ground truth: the same → +1, another → −1.
 *
 * Fractions, decimals, per cent, grouped thousands, powers of ten and mixed numbers are compared by their exact value, without regard to
 * formatting. An answer without a box is −1: whoever gives a truth expects an answer, and an answer that could avoid the comparison would
 * learn to. Abstains without a ground truth, and where the answer has no box but called a tool: it was a step, not the answer.
 */
export const boxedMath: Verifier = ({ answer, nextState, groundTruth }) => {
  if (groundTruth === null || groundTruth.trim() === '') return abstained('no ground truth');
  // The end of thinking may be in the part that was cut.
  const box = lastBox(withoutThinking(afterCut(answer) ?? answer) ?? '');
  if (box === null) {
    const calledTool = nextState.some(({ role }) => role === 'tool' || role === 'function');
    return calledTool ? abstained('no box, but a tool was called') : failed('no box');
  }
  const given = unboxed(box);
  const truth = unboxed(groundTruth);
  const shown = `${given.slice(0, 200)} against ${truth.slice(0, 200)}`;
  return isEquivalent(given, truth) ? passed(shown) : failed(shown);
};

/** A truth may be given with the text around it, and a box may stand in a box. */
const unboxed = (text: string): string => lastBox(text) ?? text;
