import { StreamDecoder, type Tokenizer } from '@hindcast/language-model';
import { StopStrings } from './stop-strings';

/** When an answer ends. */
export interface AnswerLimits {
  /** Tokens to generate at most, ≥ 1. */
  readonly maxTokens: number;
  readonly stop: readonly string[];
  readonly stopTokenIds: readonly number[];
  /** End-of-turn tokens; empty with `ignore_eos`. */
  readonly endTokenIds: readonly number[];
  readonly keepStop: boolean;
  readonly skipSpecialTokens: boolean;
}

export interface Finish {
  readonly reason: 'stop' | 'length';
  /** The stop string or stop token that ended it; null for the model's own end of turn and for `length`. */
  readonly stopReason: string | number | null;
}

/** Follows one generated answer: turns ids into text and says when it is over. */
export class Answer {
  readonly ids: number[] = [];
  private readonly decoder: StreamDecoder;
  private readonly stops: StopStrings;

  constructor(
    tokenizer: Pick<Tokenizer, 'tokenBytes' | 'isSpecial'>,
    private readonly limits: AnswerLimits,
  ) {
    this.decoder = new StreamDecoder(tokenizer, { skipSpecialTokens: limits.skipSpecialTokens });
    this.stops = new StopStrings(limits.stop, limits.keepStop);
  }

  /** Takes the next sampled id; `text` is what a reader may see of it now. */
  push(id: number): { text: string; finish: Finish | null } {
    const { endTokenIds, stopTokenIds, keepStop, maxTokens } = this.limits;
    this.ids.push(id);
    const isEnd = endTokenIds.includes(id);
    const isStop = !isEnd && stopTokenIds.includes(id);
    // The token that ends the turn is counted but not shown, unless it was asked for.
    const visible = this.stops.push((isEnd || isStop) && !keepStop ? '' : this.decoder.push(id));
    if (visible.stop !== null) return { text: visible.text, finish: { reason: 'stop', stopReason: visible.stop } };
    const finish = isEnd
      ? ({ reason: 'stop', stopReason: null } as const)
      : isStop
        ? ({ reason: 'stop', stopReason: id } as const)
        : this.ids.length >= maxTokens
          ? ({ reason: 'length', stopReason: null } as const)
          : null;
    return { text: finish ? visible.text + this.rest() : visible.text, finish };
  }

  private rest(): string {
    const last = this.stops.push(this.decoder.end());
    return last.stop === null ? last.text + this.stops.end() : last.text;
  }
}
