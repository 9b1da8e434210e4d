import type { Topic } from './question';
import type { Random } from './random';

/** What a reader can ask of an answer's manner. Two of a row in `opposites` exclude each other. */
export const wishes = ['plain', 'long', 'kind', 'format', 'short', 'neutral'] as const;
export type Wish = (typeof wishes)[number];

export const opposites: Readonly<Record<Wish, Wish>> = {
  plain: 'format',
  format: 'plain',
  long: 'short',
  short: 'long',
  kind: 'neutral',
  neutral: 'kind',
};

export type Mark = 'bold' | 'list' | 'boxed';
export type Length = 'short' | 'medium' | 'long';

/** The manner of one answer. */
export interface Style {
  /** Empty: plain prose. */
  readonly marks: ReadonlySet<Mark>;
  readonly length: Length;
  readonly isKind: boolean;
}

const marksOfText: readonly (readonly Mark[])[] = [['bold'], ['list'], ['bold', 'list']];
const marksOfArithmetic: readonly (readonly Mark[])[] = [
  ...marksOfText,
  ['boxed'],
  ['bold', 'boxed'],
  ['list', 'boxed'],
  ['bold', 'list', 'boxed'],
];

// The base mix. Plain, long and kind are each rare, near one in five once a model has learned it: a wish is usually not
// met by chance, yet often enough to be reinforced.
const plainShare = 0.18;
const kindShare = 0.18;
const lengths: readonly Length[] = ['short', 'medium', 'long'];
const lengthShares = [0.42, 0.4, 0.18];

/** A style of the base mix, changed by what is wished for. */
export function drawStyle(rng: Random, topic: Topic, wanted: readonly Wish[] = []): Style {
  const wants = (wish: Wish): boolean => wanted.includes(wish);
  const isPlain = rng.chance(plainShare);
  const marks = rng.pick(topic === 'arithmetic' ? marksOfArithmetic : marksOfText);
  const length = rng.weighted(lengths, lengthShares);
  const isKind = rng.chance(kindShare);
  return {
    marks: new Set((isPlain || wants('plain')) && !wants('format') ? [] : marks),
    length: wants('long') ? 'long' : wants('short') ? 'short' : length,
    isKind: (isKind || wants('kind')) && !wants('neutral'),
  };
}
