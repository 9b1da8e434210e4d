import { ReusedMemory } from './reused-memory';

const LARGE = 100_000;

describe('ReusedMemory', () => {
  it('gives out what was given back, and nothing that somebody has', () => {
    const memory = new ReusedMemory();
    const [first, second] = [memory.lease(LARGE), memory.lease(LARGE)];
    expect(second.bytes.buffer).not.toBe(first.bytes.buffer);
    first.giveBack();
    expect(memory.lease(LARGE - 1).bytes.buffer).toBe(first.bytes.buffer);
    expect(memory.lease(LARGE).bytes.buffer).not.toBe(first.bytes.buffer);
  });

  it('has what was given back twice only once', () => {
    const memory = new ReusedMemory();
    const lease = memory.lease(LARGE);
    lease.giveBack();
    lease.giveBack();
    expect(memory.lease(LARGE).bytes.buffer).not.toBe(memory.lease(LARGE).bytes.buffer);
  });

  it.each([1, 7, 4_096, 65_535, 65_536, 65_537, 200_000, 262_144, 1_000_001])(
    'has room for %i bytes, aligned',
    (bytes) => {
      const lease = new ReusedMemory().lease(bytes);
      expect(lease.bytes.length).toBeGreaterThanOrEqual(bytes);
      expect(lease.bytes.length).toBeLessThanOrEqual(Math.max(bytes * 1.25, bytes + 16_384));
      expect(lease.bytes.byteOffset % 8).toBe(0);
    },
  );

  it('keeps no more than its bound', () => {
    const memory = new ReusedMemory(LARGE * 1.5);
    const leases = [memory.lease(LARGE), memory.lease(LARGE)];
    for (const lease of leases) lease.giveBack();
    expect(memory.lease(LARGE).bytes.buffer).toBe(leases[0]!.bytes.buffer);
    expect(memory.lease(LARGE).bytes.buffer).not.toBe(leases[1]!.bytes.buffer);
  });

  describe('after a while', () => {
    const MINUTE_MS = 60_000;
    beforeEach(() => void jest.useFakeTimers());
    afterEach(() => void jest.useRealTimers());

    it('has left what nobody needed, and room for what is needed now', () => {
      const memory = new ReusedMemory(LARGE * 1.5);
      const [other, needed] = [memory.lease(LARGE * 1.2), memory.lease(LARGE)];
      other.giveBack();
      jest.advanceTimersByTime(2 * MINUTE_MS);
      needed.giveBack();
      expect(memory.lease(LARGE * 1.2).bytes.buffer).not.toBe(other.bytes.buffer);
      expect(memory.lease(LARGE).bytes.buffer).toBe(needed.bytes.buffer);
    });

    it('still has as much as was needed at a time', () => {
      const memory = new ReusedMemory();
      const leases = [1, 2, 3].map(() => memory.lease(LARGE));
      for (const lease of leases) lease.giveBack();
      jest.advanceTimersByTime(MINUTE_MS);
      for (const lease of [memory.lease(LARGE), memory.lease(LARGE)]) lease.giveBack();
      jest.advanceTimersByTime(MINUTE_MS);
      const known = new Set(leases.map(({ bytes }) => bytes.buffer));
      expect([1, 2, 3].map(() => known.has(memory.lease(LARGE).bytes.buffer))).toEqual([true, true, false]);
    });

    it('has nothing that runs where nothing lies unused', () => {
      const memory = new ReusedMemory();
      memory.lease(LARGE).giveBack();
      jest.advanceTimersByTime(2 * MINUTE_MS);
      expect(jest.getTimerCount()).toBe(0);
    });
  });

  it('poisoned, overwrites what is given back, small memory too', () => {
    const memory = new ReusedMemory();
    memory.poison();
    const lease = memory.lease(10);
    lease.bytes.fill(1);
    lease.giveBack();
    expect(lease.bytes.every((byte) => byte === 0xaa)).toBe(true);
    expect(memory.lease(10).bytes.buffer).toBe(lease.bytes.buffer);
  });
});
