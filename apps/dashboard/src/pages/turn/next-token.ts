const FURTHEST = 400;

/**
 * Where a key leads from token `t`; `null` for a key that leads nowhere. Up and down go to the token above or below, which
 * `elementOf` tells by its place.
 */
export function nextToken(
  key: string,
  t: number,
  length: number,
  elementOf: (t: number) => HTMLElement | null,
): number | null {
  switch (key) {
    case 'ArrowRight':
      return Math.min(length - 1, t + 1);
    case 'ArrowLeft':
      return Math.max(0, t - 1);
    case 'Home':
      return 0;
    case 'End':
      return length - 1;
    case 'PageDown':
      return Math.min(length - 1, t + 100);
    case 'PageUp':
      return Math.max(0, t - 100);
    case 'ArrowDown':
      return nextLine(t, 1, length, elementOf);
    case 'ArrowUp':
      return nextLine(t, -1, length, elementOf);
    default:
      return null;
  }
}

function nextLine(t: number, step: 1 | -1, length: number, elementOf: (t: number) => HTMLElement | null): number {
  const from = elementOf(t)?.getClientRects()[0];
  if (from === undefined) return t;
  let best = t;
  let line: number | null = null;
  let nearest = Infinity;
  for (let i = t + step; i >= 0 && i < length && Math.abs(i - t) <= FURTHEST; i += step) {
    const place = elementOf(i)?.getClientRects()[0];
    if (place === undefined || Math.abs(place.top - from.top) < 3) continue;
    if (line !== null && Math.abs(place.top - line) >= 3) break;
    line = place.top;
    const distance = Math.abs(place.left - from.left);
    if (distance >= nearest) continue;
    nearest = distance;
    best = i;
  }
  return best;
}
