import type { ShownTurn, TurnDetail } from '@hindcast/contracts';
import { decodeArray } from './encoded-array';

/** The numbers of each sampled token, `[R]` each; log-probs in nats. */
export interface TokenSignals {
  readonly length: number;
  readonly ids: ArrayLike<number>;
  readonly texts: readonly (string | null)[] | null;
  readonly rollout: ArrayLike<number>;
  readonly teacher: ArrayLike<number> | null;
  readonly old: ArrayLike<number> | null;
  readonly new: ArrayLike<number> | null;
  readonly advantages: ArrayLike<number> | null;
  /** `trained`: as the step took them. `expected`: as they would be with the weights of now. */
  readonly source: 'trained' | 'expected' | null;
  readonly clip: { readonly low: number; readonly high: number } | null;
  /** |A| at the ends of the colour scale; > 0. */
  readonly limit: number;
}

/** `null` where no recording is kept. @throws RangeError for arrays that are not of the same tokens */
export function tokenSignals({ detail, texts, expected }: ShownTurn): TokenSignals | null {
  const { tokens, trained } = detail;
  if (tokens === null) return null;
  const { length } = tokens.ids;
  const array = (encoded: typeof tokens.ids | null | undefined): ArrayLike<number> | null => {
    if (encoded === null || encoded === undefined) return null;
    if (encoded.length !== length) throw new RangeError(`${encoded.length} numbers of ${length} tokens`);
    return decodeArray(encoded);
  };
  const source = trained !== null ? 'trained' : expected !== null ? 'expected' : null;
  const advantages = array(trained?.advantages ?? expected?.advantages);
  return {
    length,
    ids: array(tokens.ids)!,
    texts: texts !== null && texts.length === length ? texts : null,
    rollout: array(tokens.rollout)!,
    teacher: array(tokens.teacher),
    old: array(trained?.oldLogProbs),
    new: array(trained?.newLogProbs),
    advantages,
    source,
    clip: clipOf(trained),
    limit: advantages === null ? 1 : scaleLimit(advantages),
  };
}

/** Why ids stand where texts should; `null` where every token has its text. */
export function untoldTexts({ texts, length }: Pick<TokenSignals, 'texts' | 'length'>): string | null {
  const untold = texts === null ? length : texts.filter((text) => text === null).length;
  if (untold === 0) return null;
  if (untold === length)
    return 'The texts of the tokens are not known: no engine has told them, and there is no vocabulary at hand. Their ids stand in their place; the texts come back with an engine.';
  return `The engine has not told the texts of ${untold} of the ${length} tokens: their ids stand in their place.`;
}

const clipOf = (trained: TurnDetail['trained']): TokenSignals['clip'] =>
  trained === null ? null : { low: trained.clipEpsilonLow, high: trained.clipEpsilonHigh };

/** The |A| that 98 of 100 tokens stay within: a single extreme token does not turn all others pale. 1 where all are zero. */
export function scaleLimit(advantages: ArrayLike<number>): number {
  const sizes = Array.from(advantages, Math.abs)
    .filter((size) => size > 0)
    .sort((a, b) => a - b);
  return sizes.length === 0 ? 1 : sizes[Math.ceil(sizes.length * 0.98) - 1]!;
}

/** Steps of the scale on either side of 0. */
export const LEVELS = 4;

/** Place on the scale, −4 … 4: 0 only for what is nearly nothing beside `limit`, and never of the other sign. */
export function levelOf(advantage: number, limit: number): number {
  const level = Math.round((advantage / limit) * LEVELS);
  return Math.max(-LEVELS, Math.min(LEVELS, level)) + 0;
}

/** How strong the colour is, 0 … 1, in proportion to |A| up to `limit`. */
export const strengthOf = (advantage: number, limit: number): number => Math.min(1, Math.abs(advantage) / limit);

export interface TokenReading {
  readonly index: number;
  readonly id: number;
  readonly text: string | null;
  readonly rollout: number;
  readonly teacher: number | null;
  readonly old: number | null;
  readonly new: number | null;
  /** ρ = exp(log π_θ − log π_old), after the step. */
  readonly ratio: number | null;
  /** The ratio left the clip range on the side to which the advantage pushed it. */
  readonly isClipped: boolean | null;
  readonly advantage: number | null;
}

/** All about one token, 0 ≤ t < length. */
export function readToken(signals: TokenSignals, t: number): TokenReading {
  const { clip } = signals;
  const advantage = signals.advantages?.[t] ?? null;
  const old = signals.old?.[t] ?? null;
  const fresh = signals.new?.[t] ?? null;
  const ratio = old === null || fresh === null ? null : Math.exp(fresh - old);
  return {
    index: t,
    id: signals.ids[t]!,
    text: signals.texts?.[t] ?? null,
    rollout: signals.rollout[t]!,
    teacher: signals.teacher?.[t] ?? null,
    old,
    new: fresh,
    ratio,
    isClipped:
      ratio === null || clip === null || advantage === null
        ? null
        : (advantage > 0 && ratio > 1 + clip.high) || (advantage < 0 && ratio < 1 - clip.low),
    advantage,
  };
}
