/** By whom a turn was opened, and which of its turns it is: the first has number 1. */
export interface Opening {
  /** Of one run of a gateway. */
  readonly gateway: string;
  readonly number: number;
}

/**
 * The turns that one run of a gateway opened, by number, and which of them are announced. One number says it of nearly all of them,
 * where a mark for each would be a message for each.
 */
export class OpenedTurns {
  private last = 0;
  /** In the order of their numbers. */
  private readonly unannounced = new Set<number>();

  constructor(readonly gateway: string) {}

  next(): Opening {
    this.unannounced.add(++this.last);
    return { gateway: this.gateway, number: this.last };
  }

  announced(number: number): void {
    this.unannounced.delete(number);
  }

  isAnnounced(number: number): boolean {
    return number <= this.last && !this.unannounced.has(number);
  }

  /** The turns up to this number are announced, without an exception. */
  get announcedUpTo(): number {
    for (const number of this.unannounced) return number - 1;
    return this.last;
  }
}
