import { withEnding, type Ending, type OpenTurns } from './open-turn';

/** What one list may hold. */
export interface ListBounds {
  readonly count: number;
  /** Of its entries as JSON. */
  readonly bytes: number;
}

/** Entries are written anew with every change of their list: more than these cost too much, and are meant by nobody. */
const MOST_ENTRIES = 256;

/** Half of what a value may hold: the other half is for what entries become before they go. @param valueBytes the largest value */
export const boundsOf = (valueBytes: number): ListBounds => ({
  count: MOST_ENTRIES,
  bytes: Math.floor(valueBytes / 2),
});

const measured = new WeakMap<object, number>();

/** Bytes of an entry as JSON, with its comma. */
export function bytesOf(entry: object): number {
  let bytes = measured.get(entry);
  if (bytes === undefined) measured.set(entry, (bytes = Buffer.byteLength(JSON.stringify(entry)) + 1));
  return bytes;
}

/** The newest entries that are within the bounds; the list itself where all are. */
export function newestWithin<T extends object>(entries: readonly T[], { count, bytes }: ListBounds): readonly T[] {
  let first = entries.length;
  for (let left = bytes; first > 0 && entries.length - first < count; first--) {
    left -= bytesOf(entries[first - 1]!);
    if (left < 0) break;
  }
  return first === 0 ? entries : entries.slice(first);
}

/** The turns with an ending for each open one that is too old to stay within the bounds; the list itself where all stay. */
export function crowdedOut(turns: OpenTurns, bounds: ListBounds, now: number): OpenTurns {
  const open = turns.filter(({ ending }) => ending === null);
  const staying = newestWithin(open, bounds);
  return open
    .slice(0, open.length - staying.length)
    .reduce<OpenTurns>((list, { turnId }) => withEnding(list, turnId, crowded(now)), turns);
}

const crowded = (at: number): Ending => ({
  kind: 'closed',
  at,
  by: 'crowd',
  body: { reason: 'expired', detail: 'too many open turns of one conversation' },
});
