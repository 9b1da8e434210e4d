import { reusedMemory, type Lease, type ReusedMemory } from './reused-memory';

const NOTHING = Buffer.alloc(0);
/** Whoever says that more will come has to send it first. */
const EXPECTED_AT_MOST = 1024 * 1024;

/** What comes in pieces, in one: a piece of something large is copied when it comes, so that none of them has to be kept. */
export class GatheredBytes {
  length = 0;
  /** As long as it is all there is, and short. */
  private first: Buffer | null = null;
  private lease: Lease | null = null;

  private readonly expected: number;

  /** @param expected how many bytes will come, as far as that is known */
  constructor(
    expected = 0,
    private readonly memory: ReusedMemory = reusedMemory,
  ) {
    this.expected = Math.min(expected, EXPECTED_AT_MOST);
  }

  /** A view of all that has come: good until more comes, or until it is given back. */
  get bytes(): Buffer {
    return this.lease ? this.lease.bytes.subarray(0, this.length) : (this.first ?? NOTHING);
  }

  add(piece: Buffer): void {
    const length = this.length + piece.length;
    if (this.length === 0 && !this.memory.reuses(Math.max(this.expected, length))) this.first = piece;
    else this.copy(piece, length);
    this.length = length;
  }

  /** Nobody has a view of it any more. */
  giveBack(): void {
    this.lease?.giveBack();
    this.lease = this.first = null;
    this.length = 0;
  }

  private copy(piece: Buffer, length: number): void {
    if (!this.lease || length > this.lease.bytes.length) {
      const larger = this.memory.lease(Math.max(this.expected, this.lease ? 2 * length : length));
      larger.bytes.set(this.bytes);
      this.lease?.giveBack();
      this.lease = larger;
      this.first = null;
    }
    this.lease.bytes.set(piece, this.length);
  }
}
