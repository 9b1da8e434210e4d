/**
 * Divides `total` among parts in proportion to their weights; what a part does not need goes to the others, again by weight
 * (progressive filling, max-min fairness).
 * @returns for each part the smaller of its need and its share; the sum is at most `total`
 */
export function divide(total: number, parts: readonly { readonly need: number; readonly weight: number }[]): number[] {
  const shares = parts.map(() => 0);
  let left = Math.max(0, total);
  let open = parts.map((_, i) => i);
  while (open.length > 0) {
    const weights = open.reduce((sum, i) => sum + parts[i]!.weight, 0);
    const full = open.filter((i) => parts[i]!.need <= (left * parts[i]!.weight) / weights);
    if (full.length === 0) {
      for (const i of open) shares[i] = Math.floor((left * parts[i]!.weight) / weights);
      break;
    }
    for (const i of full) {
      shares[i] = parts[i]!.need;
      left -= parts[i]!.need;
    }
    open = open.filter((i) => !full.includes(i));
  }
  return shares;
}
