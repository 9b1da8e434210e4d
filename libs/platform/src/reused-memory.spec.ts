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
