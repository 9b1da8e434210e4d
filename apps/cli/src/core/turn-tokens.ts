import { decodeIds, decodeLogProbs, decodeNumbers, type ShownTurn } from '@hindcast/contracts';

/** What is known of one sampled token; log-probs in nats, `null` where there is none. */
export interface ShownToken {
  readonly id: number;
  readonly text: string | null;
  readonly rollout: number;
  readonly teacher: number | null;
  /** After the step that trained it. */
  readonly trained: number | null;
  /** A of the step, or as it would be now; `null` where the turn is not trained and will not be. */
  readonly advantage: number | null;
  /** ρ = exp(new − old). */
  readonly ratio: number | null;
  readonly isClipped: boolean;
}

/** The sampled tokens of a turn, in order; `null` where no recording of them is kept. */
export function tokensOf({ detail, texts, expected }: ShownTurn): ShownToken[] | null {
  const { tokens, trained } = detail;
  if (tokens === null) return null;
  const rollout = decodeLogProbs(tokens.rollout);
  const teacher = tokens.teacher && decodeLogProbs(tokens.teacher);
  const encoded = trained?.advantages ?? expected?.advantages;
  const advantages = encoded && decodeNumbers(encoded);
  const old = trained && decodeLogProbs(trained.oldLogProbs);
  const after = trained?.newLogProbs ? decodeLogProbs(trained.newLogProbs) : null;
  return [...decodeIds(tokens.ids)].map((id, t) => {
    const advantage = advantages?.[t] ?? null;
    const ratio = old && after ? Math.exp(after[t]! - old[t]!) : null;
    return {
      id,
      text: texts?.[t] ?? null,
      rollout: rollout[t]!,
      teacher: teacher?.[t] ?? null,
      trained: after?.[t] ?? null,
      advantage,
      ratio,
      isClipped: ratio !== null && trained !== null && advantage !== null && isClipped(ratio, advantage, trained),
    };
  });
}

/** The clip acts where the ratio has already moved as far as the advantage wants it to. */
const isClipped = (
  ratio: number,
  advantage: number,
  { clipEpsilonLow, clipEpsilonHigh }: { readonly clipEpsilonLow: number; readonly clipEpsilonHigh: number },
): boolean => (advantage > 0 && ratio > 1 + clipEpsilonHigh) || (advantage < 0 && ratio < 1 - clipEpsilonLow);

/** Every token in a row. */
export function tokenTable(turn: ShownTurn): { heading: readonly string[]; rows: string[][] } | null {
  const tokens = tokensOf(turn);
  if (tokens === null) return null;
  const heading = ['', 'id', 'text', 'advantage', 'rollout', 'teacher', 'trained', 'ratio', ''];
  const nats = (value: number | null): string => (value === null ? '-' : value.toFixed(4));
  const rows = tokens.map((token, t) => [
    String(t),
    String(token.id),
    token.text === null ? '-' : JSON.stringify(token.text),
    nats(token.advantage),
    nats(token.rollout),
    nats(token.teacher),
    nats(token.trained),
    nats(token.ratio),
    token.isClipped ? 'clipped' : '',
  ]);
  return { heading, rows };
}
