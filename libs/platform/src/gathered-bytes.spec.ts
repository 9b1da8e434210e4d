import fc from 'fast-check';
import { GatheredBytes } from './gathered-bytes';
import { ReusedMemory } from './reused-memory';

describe('GatheredBytes', () => {
  it.each([{ isPoisoned: true }, { isPoisoned: false }])(
    'are all pieces in order, whatever was expected (poisoned: $isPoisoned)',
    ({ isPoisoned }) => {
      const memory = new ReusedMemory();
      if (isPoisoned) memory.poison();
      const lengths = fc.array(fc.oneof(fc.nat(100), fc.nat(100_000)), { maxLength: 8 });
      fc.assert(
        fc.property(lengths, fc.nat(300_000), (sizes, expected) => {
          const gathered = new GatheredBytes(expected, memory);
          const pieces = sizes.map((size, index) => Buffer.alloc(size, index + 1));
          for (const piece of pieces) gathered.add(piece);
          expect(gathered.bytes.equals(Buffer.concat(pieces))).toBe(true);
          gathered.giveBack();
          expect(gathered.bytes).toHaveLength(0);
        }),
        { numRuns: 200 },
      );
    },
  );

  it('do not keep the pieces of something large', () => {
    const gathered = new GatheredBytes(200_000, new ReusedMemory());
    const piece = Buffer.alloc(1_000, 1);
    gathered.add(piece);
    piece.fill(2);
    expect(gathered.bytes.equals(Buffer.alloc(1_000, 1))).toBe(true);
  });

  it('take no room for what is only announced', () => {
    const memory = new ReusedMemory();
    const asked: number[] = [];
    jest.spyOn(memory, 'lease').mockImplementation((bytes) => {
      asked.push(bytes);
      return { bytes: Buffer.alloc(bytes), giveBack: () => undefined };
    });
    new GatheredBytes(1e9, memory).add(Buffer.alloc(1));
    expect(asked).toEqual([1024 * 1024]);
  });
});
