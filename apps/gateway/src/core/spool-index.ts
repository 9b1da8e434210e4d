/** What the spool knows of one waiting operation. */
export interface SpoolEntry {
  /** Keys that the operation touches. */
  readonly touched: readonly string[];
  readonly bytes: number;
  /** Only says how a turn or a session ended. Dropped last: it is small, and nothing else tells the ledger. */
  readonly isClosing: boolean;
  /** Turn whose capture it carries; `null` where it carries none. */
  readonly captureOf: string | null;
}

/** Which operations wait on disk, what they touch and how much room they take. Names sort by age. */
export class SpoolIndex {
  private entries = new Map<string, SpoolEntry>();
  /** Whether the entries are in the order of their names, as they are unless an earlier process left some. */
  private isSorted = true;
  private newest = '';
  /** Being written or worked on: neither read nor dropped meanwhile. */
  private readonly held = new Set<string>();
  /** How many waiting operations touch a key. */
  private readonly touches = new Map<string, number>();
  /** Names of the operations that carry captures, by turn id. */
  private readonly captures = new Map<string, string>();
  bytes = 0;

  constructor(private readonly maxBytes: number) {}

  get size(): number {
    return this.entries.size;
  }

  /** Adds an entry or replaces the one of this name. */
  add(name: string, entry: SpoolEntry): void {
    const known = this.entries.get(name);
    if (known) this.discount(name, known);
    else if (name < this.newest) this.isSorted = false;
    else this.newest = name;
    this.entries.set(name, entry);
    this.bytes += entry.bytes;
    for (const key of entry.touched) this.touches.set(key, (this.touches.get(key) ?? 0) + 1);
    if (entry.captureOf !== null) this.captures.set(entry.captureOf, name);
  }

  delete(name: string): void {
    const entry = this.entries.get(name);
    if (!entry) return;
    this.entries.delete(name);
    this.discount(name, entry);
  }

  touchesAny(keys: readonly string[]): boolean {
    return keys.some((key) => this.touches.has(key));
  }

  /** The waiting operation that carries the capture of a turn. */
  carrierOf(turnId: string): string | null {
    return this.captures.get(turnId) ?? null;
  }

  hold(name: string): void {
    this.held.add(name);
  }
  release(name: string): void {
    this.held.delete(name);
  }

  /** The oldest operations that can be done now: not held, not `postponed`, and with nothing such before them that touches the same. */
  oldest(limit: number, postponed: (name: string) => boolean = () => false): string[] {
    const found: string[] = [];
    const blocked = new Set<string>();
    for (const [name, { touched }] of this.inOrder()) {
      if (found.length === limit) break;
      const waits = this.held.has(name) || postponed(name) || touched.some((key) => blocked.has(key));
      if (!waits) found.push(name);
      else for (const key of touched) blocked.add(key);
    }
    return found;
  }

  /** The operation to drop next, or `null` when what waits fits, or when nothing can be dropped now. */
  toDrop(): string | null {
    if (this.bytes <= this.maxBytes) return null;
    let oldest: string | null = null;
    for (const [name, { isClosing }] of this.inOrder()) {
      if (this.held.has(name)) continue;
      if (!isClosing) return name;
      oldest ??= name;
    }
    return oldest;
  }

  private inOrder(): Iterable<[string, SpoolEntry]> {
    if (!this.isSorted) {
      this.entries = new Map([...this.entries].sort(([a], [b]) => (a < b ? -1 : 1)));
      this.isSorted = true;
    }
    return this.entries;
  }

  private discount(name: string, { bytes, touched, captureOf }: SpoolEntry): void {
    this.bytes -= bytes;
    if (captureOf !== null && this.captures.get(captureOf) === name) this.captures.delete(captureOf);
    for (const key of touched) {
      const left = this.touches.get(key)! - 1;
      if (left === 0) this.touches.delete(key);
      else this.touches.set(key, left);
    }
  }
}
