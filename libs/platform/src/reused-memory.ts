/** Smaller memory is made anew: it costs nothing that shows. */
const SMALLEST_BYTES = 64 * 1024;
/** What lies unused at most. Requests of 200 kB at 64 at a time have less than that between one and the next. */
const KEPT_BYTES = 48 * 1024 * 1024;
/** Of what lies unused, as much as nobody needed for so long is left to the collector: it may be of sizes that nobody asks for any more. */
const UNNEEDED_MS = 60_000;
/** Sizes lie so close that at most a fifth is not used: 4 for each power of two. */
const SIZES_PER_DOUBLE = 4;

/** Memory that somebody has for a while. */
export interface Lease {
  /** At least as many bytes as were asked for; what is in them is anything. */
  readonly bytes: Buffer;
  /** From now on nobody reads or writes the bytes, or a view of them. Once is enough, more often does nothing; never is allowed too. */
  giveBack(): void;
}

/** Memory of one size. */
interface Unused {
  readonly buffers: Buffer[];
  /** How many of them lay there all the time since that was looked at. */
  fewest: number;
}

/**
 * Large memory that is used again. V8 collects all of its heap whenever so many megabytes of buffers were made, and with many requests
 * at a time buffers live long enough for that: with long prompts it is most of the collector's work. What is given back is there
 * for the next request. What is not given back is collected like any other buffer, so that only who knows that nobody has a view of it
 * any more gives it back.
 */
export class ReusedMemory {
  private readonly unused = new Map<number, Unused>();
  private unusedBytes = 0;
  private smallestBytes = SMALLEST_BYTES;
  private isPoisoned = false;
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly keptBytes = KEPT_BYTES) {}

  /** Whether so many bytes are used again. */
  reuses(bytes: number): boolean {
    return bytes >= this.smallestBytes;
  }

  /** Memory that no other has, aligned to 8 bytes. */
  lease(atLeast: number): Lease {
    if (!this.reuses(atLeast)) return { bytes: Buffer.allocUnsafe(atLeast), giveBack: () => undefined };
    const size = sizeFor(atLeast);
    const same = this.unused.get(size);
    const found = same?.buffers.pop();
    if (same && found) {
      this.unusedBytes -= size;
      same.fewest = Math.min(same.fewest, same.buffers.length);
    }
    return new LeasedMemory(found ?? Buffer.allocUnsafeSlow(size), (bytes) => this.keep(bytes));
  }

  /** For tests: small memory is used again too, and all is overwritten when it is given back: whoever still reads it is found out. */
  poison(): void {
    this.isPoisoned = true;
    this.smallestBytes = 1;
  }

  private keep(bytes: Buffer): void {
    if (this.isPoisoned) bytes.fill(0xaa);
    if (this.unusedBytes + bytes.length > this.keptBytes) return;
    this.unusedBytes += bytes.length;
    const same = this.unused.get(bytes.length);
    if (same) same.buffers.push(bytes);
    else this.unused.set(bytes.length, { buffers: [bytes], fewest: 0 });
    this.timer ??= setInterval(() => this.leaveUnneeded(), UNNEEDED_MS).unref();
  }

  private leaveUnneeded(): void {
    for (const [size, same] of this.unused) {
      this.unusedBytes -= size * same.buffers.splice(0, same.fewest).length;
      same.fewest = same.buffers.length;
      if (same.fewest === 0) this.unused.delete(size);
    }
    if (this.unused.size > 0 || !this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
  }
}

class LeasedMemory implements Lease {
  private isGivenBack = false;

  constructor(
    readonly bytes: Buffer,
    private readonly keep: (bytes: Buffer) => void,
  ) {}

  giveBack(): void {
    if (this.isGivenBack) return;
    this.isGivenBack = true;
    this.keep(this.bytes);
  }
}

function sizeFor(bytes: number): number {
  const step = Math.max(SMALLEST_BYTES, 2 ** Math.floor(Math.log2(bytes))) / SIZES_PER_DOUBLE;
  return Math.ceil(bytes / step) * step;
}

/** That of this process. */
export const reusedMemory = new ReusedMemory();
