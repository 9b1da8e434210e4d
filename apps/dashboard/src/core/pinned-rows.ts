/** A list that does not move under the reader: rows keep their places, with the newest of what is known of each. */
export interface PinnedRows<Row> {
  readonly rows: readonly Row[];
  /** Rows that have come in at the top since. */
  readonly fresh: number;
}

/** @param pinned rows as they are shown, newest first @param newest the same list, asked for again */
export function pinRows<Row>(
  pinned: readonly Row[],
  newest: readonly Row[],
  idOf: (row: Row) => string,
): PinnedRows<Row> {
  if (pinned.length === 0) return { rows: newest, fresh: 0 };
  const known = new Map(newest.map((row) => [idOf(row), row]));
  const shown = new Set(pinned.map(idOf));
  const first = newest.findIndex((row) => shown.has(idOf(row)));
  return {
    rows: pinned.map((row) => known.get(idOf(row)) ?? row),
    fresh: first < 0 ? newest.length : first,
  };
}
