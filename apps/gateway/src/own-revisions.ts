/** More than a sweep leaves unseen; older ones are read from the server again. */
const KEPT = 50_000;

export interface OwnRevision<T> {
  readonly key: string;
  readonly items: readonly T[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What this process wrote into a stream lately, by sequence. */
export class OwnRevisions<T> {
  private readonly revisions = new Map<number, OwnRevision<T> | 'replaced'>();
  /** None of them has a smaller sequence. */
  private lowest = 0;

  wrote(sequence: number, key: string, items: readonly T[]): void {
    if (this.revisions.size === 0 || sequence < this.lowest) this.lowest = sequence;
    this.revisions.set(sequence, { key, items, at: Date.now() });
    while (this.revisions.size > KEPT) this.revisions.delete(this.lowest++);
  }

  /** This process put another one in its place, or removed it. */
  replaced(sequence: number): void {
    if (this.revisions.has(sequence)) this.revisions.set(sequence, 'replaced');
  }

  /** `undefined`: not written by this process, or forgotten. */
  at(sequence: number): OwnRevision<T> | 'replaced' | undefined {
    return this.revisions.get(sequence);
  }

  forgetBefore(sequence: number): void {
    // By number: the first key of a map of which the first ones were deleted takes long to find.
    if (sequence - this.lowest <= KEPT) while (this.lowest < sequence) this.revisions.delete(this.lowest++);
    else for (const known of this.revisions.keys()) if (known < sequence) this.revisions.delete(known);
    this.lowest = Math.max(this.lowest, sequence);
  }

  clear(): void {
    this.revisions.clear();
  }
}
