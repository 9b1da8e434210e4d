import { reusedMemory, type Lease } from './reused-memory';

/** The large memory that one request has for as long as it is answered and written down. */
export class RequestMemory {
  private readonly leases: Pick<Lease, 'giveBack'>[] = [];
  private readonly readers: Promise<unknown>[] = [];

  /** So many bytes, aligned to 8. */
  take(bytes: number): Buffer {
    const lease = reusedMemory.lease(bytes);
    this.leases.push(lease);
    return lease.bytes.subarray(0, bytes);
  }

  /** Goes back with the rest. */
  add(lease: Pick<Lease, 'giveBack'>): void {
    this.leases.push(lease);
  }

  /** Nothing goes back before this is over. */
  isReadBy(work: Promise<unknown>): void {
    this.readers.push(work);
  }

  /** The request is answered: all goes back as soon as nobody reads it any more. */
  async giveBack(): Promise<void> {
    await Promise.allSettled(this.readers);
    for (const lease of this.leases.splice(0)) lease.giveBack();
  }
}
