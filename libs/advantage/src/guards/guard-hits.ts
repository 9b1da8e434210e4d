import { hasBrokenFormat } from './format';
import { isRepetitive } from './repetition';

const guards = { repetition: isRepetitive, format: hasBrokenFormat } as const satisfies Record<
  string,
  (answer: string) => boolean
>;

export type GuardName = keyof typeof guards;
export const GUARD_NAMES = Object.keys(guards) as GuardName[];

/**
 * The named guards that an answer hits, in the order of the names.
 *
 * @throws RangeError when there is no guard of a name
 */
export function guardHits(names: readonly string[], answer: string): GuardName[] {
  for (const name of names) {
    if (!Object.hasOwn(guards, name))
      throw new RangeError(`there is no guard ${name}; there are ${GUARD_NAMES.join(', ')}`);
  }
  return (names as readonly GuardName[]).filter((name) => guards[name](answer));
}
