/**
 * A map of the entries that were set last, at least half of `most` and never more than that. Two generations: when the younger one is
 * full, the older one goes as a whole. To delete the first key of one `Map` again and again leaves holes at its beginning, which the next
 * look for its first key walks over: 20 to 40 µs with some ten thousand entries.
 */
export class Latest<K, V> {
  private young = new Map<K, V>();
  private old = new Map<K, V>();
  private readonly half: number;

  constructor(most: number) {
    this.half = Math.ceil(most / 2);
  }

  get(key: K): V | undefined {
    return this.young.get(key) ?? this.old.get(key);
  }

  has(key: K): boolean {
    return this.young.has(key) || this.old.has(key);
  }

  set(key: K, value: V): void {
    if (this.young.size >= this.half && !this.young.has(key)) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, value);
  }

  delete(key: K): void {
    this.young.delete(key);
    this.old.delete(key);
  }

  clear(): void {
    this.young = new Map();
    this.old = new Map();
  }
}
