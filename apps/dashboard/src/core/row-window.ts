/** Rows `[from, to)` that are drawn of a long table, for a frame that is scrolled down by `top`; all in px. */
export interface RowWindow {
  readonly from: number;
  readonly to: number;
}

export function rowWindow(rows: number, rowHeight: number, top: number, height: number, beyond = 20): RowWindow {
  const first = Math.floor(top / rowHeight);
  const last = Math.ceil((top + height) / rowHeight);
  const from = Math.max(0, Math.min(rows, first) - beyond);
  return { from, to: Math.max(from, Math.min(rows, last + beyond)) };
}
