/** The words of a prompt. A published one never changes: votes name its version, and a checksum holds it (`published.spec.ts`). */
export interface PromptText {
  readonly version: string;
  /** The system message. */
  readonly system: string;
  /** Comes after the quoted material: a judge follows best what it read last. */
  readonly closing: string;
}
