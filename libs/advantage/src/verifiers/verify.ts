import { boxedMath } from './boxed-math';
import { exitCode } from './exit-code';
import { httpStatus } from './http-status';
import { testRunner } from './test-runner';
import type { Verdict, VerifiableTurn, Verifier } from './verdict';

const verifiers = {
  'exit-code': exitCode,
  'http-status': httpStatus,
  'boxed-math': boxedMath,
  'test-runner': testRunner,
} as const satisfies Record<string, Verifier>;

export type VerifierName = keyof typeof verifiers;
export const VERIFIER_NAMES = Object.keys(verifiers) as VerifierName[];

/**
 * Verdicts of the named verifiers, in the order of the names.
 *
 * @throws RangeError when there is no verifier of a name
 */
export function verify(names: readonly string[], turn: VerifiableTurn): Verdict[] {
  return names.map((name) => {
    if (!Object.hasOwn(verifiers, name)) {
      throw new RangeError(`there is no verifier ${name}; there are ${VERIFIER_NAMES.join(', ')}`);
    }
    return verifiers[name as VerifierName](turn);
  });
}
