/** What a cache row costs: one key and one value vector per layer, key/value head and position. */
export interface CacheShape {
  readonly layers: number;
  readonly kvHeads: number;
  readonly headDim: number;
}

/** Keys and values of one layer. */
export interface LayerArrays {
  readonly keys: Float32Array;
  readonly values: Float32Array;
}

/** Positions are allocated in blocks, so that a growing batch is moved once in so many tokens. */
const BLOCK = 64;

/**
 * Keys and values of the rows of one batch. Row r has `lengths[r]` positions in use; all rows have `capacity` positions, and what
 * lies beyond a row's length is finite and must be masked. The rows lie without gaps, so a batch is given to the model as it
 * is, and a decoding step writes one position per row: nothing else is copied until a row joins, leaves, or outgrows a block.
 */
export class KvCache {
  readonly lengths: number[] = [];
  capacity = BLOCK;
  private allocatedRows = 0;
  private keys: Float32Array[];
  private values: Float32Array[];

  constructor(private readonly shape: CacheShape) {
    this.keys = this.allocate();
    this.values = this.allocate();
  }

  get rows(): number {
    return this.lengths.length;
  }

  /** Numbers per layer that the rows in use take, of shape `[rows, kvHeads, capacity, headDim]`. */
  layerKeys(layer: number): Float32Array {
    return this.inUse(this.keys[layer]!);
  }

  layerValues(layer: number): Float32Array {
    return this.inUse(this.values[layer]!);
  }

  /** Adds an empty row; returns its index, the last. */
  addRow(): number {
    this.lengths.push(0);
    if (this.rows > this.allocatedRows) this.move(Math.max(this.rows, this.allocatedRows * 2), this.capacity);
    return this.rows - 1;
  }

  /** Copies the only row of another cache to a new last row; returns its index. */
  adopt(other: KvCache): number {
    if (other.rows !== 1) throw new RangeError(`a cache of ${other.rows} rows cannot be adopted`);
    const layers = other.keys.map((keys, layer) => ({ keys, values: other.values[layer]! }));
    return this.addStored(layers, other.capacity, 0, other.lengths[0]!);
  }

  /** Removes a row; the last row takes its index. */
  removeRow(row: number): void {
    const last = this.rows - 1;
    if (row < 0 || row > last) throw new RangeError(`no row ${row} in a cache of ${this.rows}`);
    if (row !== last) {
      const size = this.rowSize();
      for (const arrays of [this.keys, this.values])
        for (const array of arrays) array.copyWithin(row * size, last * size, (last + 1) * size);
      this.lengths[row] = this.lengths[last]!;
    }
    this.lengths.pop();
    this.fit(0);
  }

  /** Makes room for `count` more positions in every row, and gives back room that is no longer needed. */
  fit(count: number): void {
    const needed = Math.max(0, ...this.lengths) + count;
    const blocks = Math.max(BLOCK, Math.ceil(needed / BLOCK) * BLOCK);
    if (blocks > this.capacity || blocks * 2 < this.capacity) this.move(this.allocatedRows, blocks);
  }

  /** Stores a layer's new keys and values, each `[rows, kvHeads, count, headDim]`, behind each row's length. `fit` comes first. */
  store(layer: number, keys: Float32Array, values: Float32Array, count: number): void {
    const { kvHeads, headDim } = this.shape;
    const size = count * headDim;
    const targets: [Float32Array, Float32Array][] = [
      [keys, this.keys[layer]!],
      [values, this.values[layer]!],
    ];
    for (const [source, target] of targets) {
      for (let row = 0, from = 0; row < this.rows; row++)
        for (let head = 0; head < kvHeads; head++, from += size) {
          const to = ((row * kvHeads + head) * this.capacity + this.lengths[row]!) * headDim;
          // Copying by hand is faster than set(subarray()) for the one position of a decoding step.
          if (count === 1) for (let i = 0; i < headDim; i++) target[to + i] = source[from + i]!;
          else target.set(source.subarray(from, from + size), to);
        }
    }
  }

  /**
   * Adds a row of `count` positions, taken from each layer's keys and values `[1, kvHeads, sourceCapacity, headDim]` from position
   * `first` on; returns its index, the last.
   */
  addStored(layers: readonly LayerArrays[], sourceCapacity: number, first: number, count: number): number {
    const row = this.addRow();
    this.lengths[row] = count;
    this.fit(0);
    layers.forEach(({ keys, values }, layer) => {
      const from = { capacity: sourceCapacity, row: 0, first };
      const to = { capacity: this.capacity, row, first: 0 };
      copyPositions(this.shape, keys, from, this.keys[layer]!, to, count);
      copyPositions(this.shape, values, from, this.values[layer]!, to, count);
    });
    return row;
  }

  /** Counts `count` stored positions in every row, after the last layer's `store`. */
  advance(count: number): void {
    for (let row = 0; row < this.rows; row++) this.lengths[row]! += count;
  }

  private move(rows: number, capacity: number): void {
    const old = { keys: this.keys, values: this.values, capacity: this.capacity, rows: this.allocatedRows };
    this.allocatedRows = rows;
    this.capacity = capacity;
    this.keys = this.allocate();
    this.values = this.allocate();
    const kept = Math.min(this.rows, old.rows);
    for (let row = 0; row < kept; row++) {
      const from = { capacity: old.capacity, row, first: 0 };
      const to = { capacity, row, first: 0 };
      for (let layer = 0; layer < this.shape.layers; layer++) {
        copyPositions(this.shape, old.keys[layer]!, from, this.keys[layer]!, to, this.lengths[row]!);
        copyPositions(this.shape, old.values[layer]!, from, this.values[layer]!, to, this.lengths[row]!);
      }
    }
  }

  private allocate(): Float32Array[] {
    return Array.from({ length: this.shape.layers }, () => new Float32Array(this.allocatedRows * this.rowSize()));
  }

  private rowSize(): number {
    return this.shape.kvHeads * this.capacity * this.shape.headDim;
  }

  private inUse(array: Float32Array): Float32Array {
    return array.subarray(0, this.rows * this.rowSize());
  }
}

/** A place in an array `[rows, kvHeads, capacity, headDim]`. */
interface Place {
  readonly capacity: number;
  readonly row: number;
  readonly first: number;
}

function copyPositions(
  { kvHeads, headDim }: CacheShape,
  source: Float32Array,
  from: Place,
  target: Float32Array,
  to: Place,
  count: number,
): void {
  const start = ({ capacity, row, first }: Place, head: number): number =>
    ((row * kvHeads + head) * capacity + first) * headDim;
  for (let head = 0; head < kvHeads; head++) {
    const at = start(from, head);
    target.set(source.subarray(at, at + count * headDim), start(to, head));
  }
}
