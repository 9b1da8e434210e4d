const DIGITS = 10;
const COMMA = 44;
const ZERO = 48;

/** `1,2,3`: ids ≥ 0 as a JSON list has them between its brackets, in a fraction of the time that `join` takes. */
export function writtenIds(ids: Int32Array): string {
  const bytes = Buffer.allocUnsafe(ids.length * (DIGITS + 1));
  let at = bytes.length;
  for (let i = ids.length - 1; i >= 0; i--) {
    let id = ids[i]!;
    do {
      const tenth = (id / 10) | 0;
      bytes[--at] = ZERO + id - tenth * 10;
      id = tenth;
    } while (id > 0);
    if (i > 0) bytes[--at] = COMMA;
  }
  return bytes.toString('latin1', at);
}
