/** A seeded source of randomness: the same seed gives the same draws on every machine. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** An integer in [low, high], both included. */
  integer(low: number, high: number): number;
  /** True with the given probability. */
  chance(probability: number): boolean;
  /** One item, each equally likely. Throws on an empty list. */
  pick<T>(items: readonly T[]): T;
  /** One item, likely in proportion to its weight. Throws unless there is one weight per item. */
  weighted<T>(items: readonly T[], weights: readonly number[]): T;
  /** `count` different items in random order. Throws when there are fewer. */
  sample<T>(items: readonly T[], count: number): T[];
}

/** 32-bit hash of a text (FNV-1a): splits texts into fixed sets and turns a seed's name into a number. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash >>> 0;
}

/**
 * Draws by counting: the n-th draw is a bit mixer applied to (seed, n), so a stream has no state but its position.
 * @param seed a number or a name such as `7/questions`; different names give unrelated streams.
 */
export function random(seed: number | string): Random {
  const key = hashText(String(seed));
  const step = hashText(`${seed}/step`) | 1; // odd: the counter passes through all 2^32 values
  let counter = key;
  const next = (): number => {
    counter = (counter + step) >>> 0;
    let bits = counter ^ key;
    bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad);
    bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
    return ((bits ^ (bits >>> 15)) >>> 0) / 4294967296;
  };
  const integer = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  const pick = <T>(items: readonly T[]): T => at(items, integer(0, items.length - 1));
  return {
    next,
    integer,
    pick,
    chance: (probability) => next() < probability,
    weighted: (items, weights) => {
      if (items.length !== weights.length) throw new RangeError('weighted needs one weight per item');
      let rest = next() * weights.reduce((sum, weight) => sum + weight, 0);
      const index = weights.findIndex((weight) => (rest -= weight) < 0);
      return at(items, index === -1 ? items.length - 1 : index);
    },
    sample: (items, count) => {
      if (count > items.length) throw new RangeError(`cannot draw ${count} of ${items.length} items`);
      const left = [...items];
      return Array.from({ length: count }, () => at(left.splice(integer(0, left.length - 1), 1), 0));
    },
  };
}

function at<T>(items: readonly T[], index: number): T {
  if (index < 0 || index >= items.length) throw new RangeError('nothing to choose from');
  return items[index] as T;
}
