import type { PairedTurn } from '@hindcast/contracts';

/** What the ledger keeps of a turn's texts. */
export interface TurnTexts {
  /** {@link ShownTexts} as JSON. */
  readonly texts: string;
  /** Starts of what was answered, and of the answer. */
  readonly request: string;
  readonly answer: string;
  /** What a search for words looks through: what was answered, the answer, and what followed. */
  readonly searched: string;
}

/** What the judge saw of a turn. */
export type ShownTexts = Pick<PairedTurn, 'conversation' | 'answer' | 'nextState'>;

/** Characters of a text that a list shows. */
const PREVIEW_CHARS = 280;

export function turnTexts({ conversation, answer, nextState }: ShownTexts): TurnTexts {
  const request = conversation.at(-1)?.text ?? '';
  return {
    texts: JSON.stringify({ conversation, answer, nextState }),
    request: start(request),
    answer: start(answer),
    searched: [request, answer, ...nextState.map((message) => message.text)].join('\n'),
  };
}

/** @throws SyntaxError when the text is not what {@link turnTexts} wrote. */
export const shownTexts = (texts: string): ShownTexts => JSON.parse(texts) as ShownTexts;

/** The text's first characters, never half of one. */
function start(text: string): string {
  if (text.length <= PREVIEW_CHARS) return text;
  const end = /[\ud800-\udbff]/.test(text[PREVIEW_CHARS - 1]!) ? PREVIEW_CHARS - 1 : PREVIEW_CHARS;
  return `${text.slice(0, end)}…`;
}
