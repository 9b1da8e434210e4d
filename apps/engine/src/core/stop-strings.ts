/** The text that became visible with one token, and the stop string that ended the answer, if one did. */
export interface VisibleText {
  readonly text: string;
  readonly stop: string | null;
}

/**
 * Cuts an answer before its first stop string, as vLLM does: after each piece, the stop strings are tried in their order, and the text ends
 * before the first place where one stands (behind it with `keep`). Text that may still become part of a stop string is held
 * back: the longest one's length minus one.
 */
export class StopStrings {
  private text = '';
  private shown = 0;
  private readonly heldBack: number;

  constructor(
    private readonly stops: readonly string[],
    private readonly keep = false,
  ) {
    this.heldBack = keep ? 0 : Math.max(0, ...stops.map((stop) => stop.length - 1));
  }

  /** Adds a piece of the answer. After a stop nothing may follow. */
  push(piece: string): VisibleText {
    this.text += piece;
    for (const stop of this.stops) {
      // Only a place that this piece reaches can be new.
      const found = this.text.indexOf(stop, Math.max(0, this.text.length - piece.length - stop.length + 1));
      if (found < 0 || piece === '') continue;
      this.text = this.text.slice(0, this.keep ? found + stop.length : found);
      return { text: this.show(this.text.length), stop };
    }
    return { text: this.show(this.text.length - this.heldBack), stop: null };
  }

  /** What is still held back, when the answer ends for another reason. */
  end(): string {
    return this.show(this.text.length);
  }

  /** A surrogate pair is never cut in two, which would leave as two broken characters. */
  private show(until: number): string {
    let end = Math.max(this.shown, until);
    if (end > this.shown && end < this.text.length && isHighSurrogate(this.text.charCodeAt(end - 1))) end--;
    const visible = this.text.slice(this.shown, end);
    this.shown = end;
    return visible;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
