import type { DeadLetterRow } from '@hindcast/contracts';

/** Which letter: its place in the stream, and when, ms. */
export type Letter = Pick<DeadLetterRow, 'sequence' | 'at'>;

/** `17/1760000000000`, as in the paths of the gateway and in the page’s own address. */
export const letterKey = ({ sequence, at }: Letter): string => `${sequence}/${at}`;

/** `null` for a text that names no letter. */
export function letterOf(key: string): Letter | null {
  const match = /^(\d{1,15})\/(\d{1,15})$/.exec(key);
  return match === null ? null : { sequence: Number(match[1]), at: Number(match[2]) };
}

/** The service behind a durable name such as `judge-svc--rl-v1-turn-paired`. */
export const appOf = (consumer: string): string => consumer.split('--')[0]!;

export interface FoldedText {
  readonly text: string;
  /** Lines that were left out; 0 where nothing was. */
  readonly hiddenLines: number;
}

/** The first lines of a long text, whole lines; a text that is little longer than `most` is not folded. */
export function folded(text: string, most: number): FoldedText {
  const lines = text.split('\n');
  if (lines.length <= most * 1.25) return { text, hiddenLines: 0 };
  return { text: lines.slice(0, most).join('\n'), hiddenLines: lines.length - most };
}

/** Indented where it is JSON, else as it is. */
export function prettyMessage(message: string): string {
  try {
    return JSON.stringify(JSON.parse(message), null, 2);
  } catch {
    return message;
  }
}
