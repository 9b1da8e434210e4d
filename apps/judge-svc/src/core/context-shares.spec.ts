import fc from 'fast-check';
import { divide } from './context-shares';

const part = (need: number, weight = 1) => ({ need, weight });

it.each([
  { total: 100, parts: [part(10), part(20)], shares: [10, 20], why: 'what is there suffices' },
  { total: 100, parts: [part(500), part(500)], shares: [50, 50], why: 'equal weights' },
  { total: 100, parts: [part(500, 3), part(500, 1)], shares: [75, 25], why: 'by weight' },
  { total: 100, parts: [part(10), part(500)], shares: [10, 90], why: 'what one leaves goes to the other' },
  { total: 100, parts: [part(5), part(30), part(500)], shares: [5, 30, 65], why: 'and on to the next' },
  { total: 100, parts: [part(0), part(500)], shares: [0, 100], why: 'nothing is needed' },
  { total: 0, parts: [part(3), part(4)], shares: [0, 0], why: 'nothing is there' },
  { total: -7, parts: [part(3)], shares: [0], why: 'less than nothing is nothing' },
  { total: 10, parts: [], shares: [], why: 'nobody asks' },
])('$why: $total → $shares', ({ total, parts, shares }) => expect(divide(total, parts)).toEqual(shares));

it('gives nobody more than they need, nor all together more than there is', () => {
  const parts = fc.array(fc.record({ need: fc.nat(1000), weight: fc.integer({ min: 1, max: 50 }) }), { maxLength: 20 });
  fc.assert(
    fc.property(fc.nat(5000), parts, (total, list) => {
      const shares = divide(total, list);
      shares.forEach((share, i) => expect(share).toBeLessThanOrEqual(list[i]!.need));
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(total);
    }),
  );
});
