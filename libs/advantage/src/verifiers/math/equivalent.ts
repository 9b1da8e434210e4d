import { answerOf, type Answer, type List } from './answer';
import type { Quantity } from './number';
import { isEqual, product, type Rational } from './rational';

/** Longest answer that is taken apart, characters; a longer one is compared as it is. */
const MAX_CHARS = 2_000;

/**
 * Whether two answers say the same: numbers by their exact value however they are written, lists item by item, sets in any order, anything
 * else as text without spaces and case.
 */
export function isEquivalent(a: string, b: string): boolean {
  if (a.trim() === b.trim()) return true;
  return a.length <= MAX_CHARS && b.length <= MAX_CHARS && isSame(answerOf(a), answerOf(b));
}

function isSame(a: Answer, b: Answer): boolean {
  if (a.text === b.text) return true;
  if (a.quantity && b.quantity) return isSameQuantity(a.quantity, b.quantity);
  return a.list !== null && b.list !== null && isSameList(a.list, b.list);
}

const HUNDREDTH: Rational = { numerator: 1n, denominator: 100n };

/** A unit that only one side names is taken as understood; per cent on one side may mean 50 or 0.5 on the other. */
function isSameQuantity(a: Quantity, b: Quantity): boolean {
  if (a.unit !== '' && b.unit !== '' && a.unit !== b.unit) return false;
  if (isEqual(a.value, b.value)) return true;
  if (a.isPercent === b.isPercent) return false;
  const [percent, plain] = a.isPercent ? [a, b] : [b, a];
  const share = product(percent.value, HUNDREDTH);
  return share !== null && isEqual(share, plain.value);
}

/** Brackets differ only where one side has none: (0, 1) is no [0, 1]. */
function isSameList(a: List, b: List): boolean {
  if (a.items.length !== b.items.length) return false;
  const isBare = a.brackets[0] === '' || b.brackets[0] === '';
  if (!isBare && (a.brackets[0] !== b.brackets[0] || a.brackets[1] !== b.brackets[1])) return false;
  const isSet = a.brackets[0] === '\\{' || b.brackets[0] === '\\{';
  return isSet ? isSameInAnyOrder(a.items, b.items) : a.items.every((item, i) => isSame(item, b.items[i]!));
}

function isSameInAnyOrder(a: readonly Answer[], b: readonly Answer[]): boolean {
  const left = [...b];
  return a.every((item) => {
    const found = left.findIndex((other) => isSame(item, other));
    if (found >= 0) left.splice(found, 1);
    return found >= 0;
  });
}
