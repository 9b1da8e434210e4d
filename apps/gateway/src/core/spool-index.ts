/** What the spool knows of one waiting operation. */
export interface SpoolEntry {
  /** Keys that the operation touches. */
  readonly touched: readonly string[];
  readonly bytes: number;
  /** Only says how a turn ended. Dropped last: it is small, and nothing else tells the ledger. */
  readonly isClosing: boolean;
}

/** Which operations wait on disk, what they touch and how much room they take. Names sort by age. */
export class SpoolIndex {
  private readonly entries = new Map<string, SpoolEntry>();
  /** Being written or worked on: neither read nor dropped meanwhile. */
  private readonly held = new Set<string>();
  /** How many waiting operations touch a key. */
  private readonly touches = new Map<string, number>();
  bytes = 0;

  constructor(private readonly maxBytes: number) {}

  get size(): number {
    return this.entries.size;
  }

  /** Adds an entry or replaces the one of this name. */
  add(name: string, entry: SpoolEntry): void {
    this.delete(name);
    this.entries.set(name, entry);
    this.bytes += entry.bytes;
    for (const key of entry.touched) this.touches.set(key, (this.touches.get(key) ?? 0) + 1);
  }

  delete(name: string): void {
    const entry = this.entries.get(name);
    if (!entry) return;
    this.entries.delete(name);
    this.bytes -= entry.bytes;
    for (const key of entry.touched) {
      const left = this.touches.get(key)! - 1;
      if (left === 0) this.touches.delete(key);
      else this.touches.set(key, left);
    }
  }

  touchesAny(keys: readonly string[]): boolean {
    return keys.some((key) => this.touches.has(key));
  }

  hold(name: string): void {
    this.held.add(name);
  }
  release(name: string): void {
    this.held.delete(name);
  }
  isHeld(name: string): boolean {
    return this.held.has(name);
  }

  oldest(limit: number): string[] {
    return [...this.entries.keys()].sort().slice(0, limit);
  }

  /** The operation to drop next, or `null` when what waits fits, or when nothing can be dropped now. */
  toDrop(): string | null {
    if (this.bytes <= this.maxBytes) return null;
    const names = [...this.entries.keys()].filter((name) => !this.held.has(name)).sort();
    return names.find((name) => !this.entries.get(name)!.isClosing) ?? names[0] ?? null;
  }
}
