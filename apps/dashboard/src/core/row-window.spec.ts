import * as fc from 'fast-check';
import { rowWindow } from './row-window';

it('draws every row that is in sight, and few others', () =>
  fc.assert(
    fc.property(fc.nat(10_000), fc.nat(400_000), fc.nat(1_200), (rows, top, height) => {
      const { from, to } = rowWindow(rows, 28, top, height);
      expect(from).toBeGreaterThanOrEqual(0);
      expect(to).toBeLessThanOrEqual(rows);
      expect(to - from).toBeLessThanOrEqual(Math.ceil(height / 28) + 42);
      for (const y of [top, top + height]) {
        const row = Math.floor(y / 28);
        if (row < rows && y < top + height) expect(from <= row && row < to).toBe(true);
      }
    }),
  ));
