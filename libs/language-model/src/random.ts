/**
 * mulberry32: uniform numbers in [0, 1), a multiple of 2⁻³² each, from a 32-bit seed. Small enough to repeat in any language:
 *
 *   state ← state + 0x6D2B79F5                       (all mod 2³²)
 *   t ← (state ⊕ state≫15) · (state | 1)
 *   t ← t ⊕ (t + (t ⊕ t≫7) · (t | 61))
 *   u = (t ⊕ t≫14) / 2³²
 *
 * For seed 0 it begins 0.26642920868471265, 0.0003297457005828619, 0.2232720274478197.
 */
export function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
