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

  wrote(sequence: number, key: string, items: readonly T[]): void {
    this.revisions.set(sequence, { key, items, at: Date.now() });
    if (this.revisions.size > KEPT) this.revisions.delete(this.revisions.keys().next().value!);
  }

  /** This process put another one in its place, or removed it. */
  replaced(sequence: number): void {
    if (this.revisions.has(sequence)) this.revisions.set(sequence, 'replaced');
  }

  /** `undefined`: not written by this process, or forgotten. */
  at(sequence: number): OwnRevision<T> | 'replaced' | undefined {
    return this.revisions.get(sequence);
  }

  /** They are nearly in ascending order: one that came late is forgotten after those before it. */
  forgetBefore(sequence: number): void {
    for (const known of this.revisions.keys()) {
      if (known >= sequence) return;
      this.revisions.delete(known);
    }
  }

  clear(): void {
    this.revisions.clear();
  }
}
