import fc from 'fast-check';
import { messageOf } from '../testing/protobuf-reader';
import { framed, restartRecord, stepRecord, versionRecord } from './event-file';
import { crc32c, maskedCrc32c } from './event-file-checksum';
import { histogramOf } from './event-file-histogram';
import { recordsOf, shownAfter } from './event-file-reading';
import reference from './event-file-reference.json';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const joined = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));
const step = (version: number): Uint8Array =>
  stepRecord({ wallTime: version, step: version, scalars: [['grad_norm', 1]], histograms: [] });

describe('crc32c', () => {
  // RFC 3720, appendix B.4, whose bytes are in the order of the wire, lowest first.
  const read10 = '01c0000000000000000000000000000014000000000004000000001400000018280000000000000002000000000000 00';
  it.each([
    { what: '32 bytes of zeros', bytes: Buffer.alloc(32), crc: 0x8a9136aa },
    { what: '32 bytes of ones', bytes: Buffer.alloc(32, 0xff), crc: 0x62a8ab43 },
    { what: '32 incrementing bytes', bytes: Buffer.from(Array.from({ length: 32 }, (_, i) => i)), crc: 0x46dd794e },
    {
      what: '32 decrementing bytes',
      bytes: Buffer.from(Array.from({ length: 32 }, (_, i) => 31 - i)),
      crc: 0x113fdb5c,
    },
    { what: 'an iSCSI READ(10) command', bytes: Buffer.from(read10.replace(' ', ''), 'hex'), crc: 0xd9963a56 },
    { what: 'the check value 123456789', bytes: Buffer.from('123456789'), crc: 0xe3069283 },
    { what: 'nothing', bytes: Buffer.alloc(0), crc: 0 },
  ])('of $what', ({ bytes, crc }) => {
    expect(crc32c(bytes)).toBe(crc);
  });
});

describe("records equal those of TensorBoard's own writer, byte for byte", () => {
  const wallTime = 1700000000.25;
  it('the head of a file', () => {
    expect(hex(versionRecord(wallTime))).toBe(reference.version);
  });
  it('a restart', () => {
    expect(hex(restartRecord(wallTime, 300))).toBe(reference.restart);
  });
  it('a step with scalars and a histogram', () => {
    const histogram = { min: -1, max: 2, count: 4, sum: 2.5, sumOfSquares: 7.25, limits: [0.5, 2], counts: [1, 3] };
    const scalars = [
      ['loss/total', -0.125],
      ['grad_norm', 3.5],
    ] as const;
    expect(hex(stepRecord({ wallTime, step: 123456, scalars, histograms: [['advantage', histogram]] }))).toBe(
      reference.step,
    );
  });
  it('their checksums are masked', () => {
    expect(maskedCrc32c(Buffer.from('1800000000000000', 'hex'))).toBe(0x224b7fa3);
  });
});

describe('a file', () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
  const event = fc.record({
    wallTime: finite,
    step: fc.maxSafeNat(),
    scalars: fc.array(fc.tuple(fc.string(), fc.float({ noNaN: true }))),
    histograms: fc.array(
      fc.tuple(
        fc.string(),
        fc
          .array(fc.double({ min: -1e100, max: 1e100, noNaN: true }), { minLength: 1 })
          .map((values) => histogramOf([values])!),
      ),
    ),
  });

  it('gives back, through an independent reader, every number that was written', () => {
    fc.assert(
      fc.property(event, (written) => {
        const [data] = [...recordsOf(stepRecord(written))];
        const root = messageOf(data!);
        expect(root.double(1)).toBe(written.wallTime);
        expect(root.varint(2)).toBe(BigInt(written.step));
        const values = root.messages(5).flatMap((summary) => summary.messages(1));
        const scalars = values.slice(0, written.scalars.length).map((value) => [value.text(1), value.float(2)]);
        expect(scalars).toEqual(written.scalars);
        const histograms = values.slice(written.scalars.length).map((value) => {
          const [histo] = value.messages(5);
          const [min, max, count, sum, sumOfSquares] = [1, 2, 3, 4, 5].map((field) => histo!.double(field));
          const [limits, counts] = [6, 7].map((field) => histo!.packedDoubles(field));
          return [value.text(1), { min, max, count, sum, sumOfSquares, limits, counts }];
        });
        expect(histograms).toEqual(written.histograms);
      }),
    );
  });

  it('is read up to the record that a killed process left unfinished, wherever it was cut', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array()), fc.nat(), (contents, at) => {
        const records = contents.map(framed);
        const whole = joined(...records);
        const cut = at % (whole.length + 1);
        let end = 0;
        const complete = records.filter((record) => (end += record.length) <= cut).length;
        expect([...recordsOf(whole.subarray(0, cut))].map(hex)).toEqual(contents.slice(0, complete).map(hex));
      }),
    );
  });

  it.each([
    { where: 'in its length', at: 0 },
    { where: "in its length's checksum", at: 9 },
    { where: 'in its contents', at: 14 },
    { where: "in its contents' checksum", at: -1 },
  ])('is read up to a record that is damaged $where', ({ at }) => {
    const damaged = step(2);
    const place = at < 0 ? damaged.length + at : at;
    damaged[place]! ^= 1;
    expect([...recordsOf(joined(step(1), damaged, step(3)))]).toHaveLength(1);
  });
});

describe('shownAfter', () => {
  const head = versionRecord(0);
  it.each([
    { why: 'no file', files: [], shown: [] },
    { why: 'a file with nothing but its head', files: [head], shown: [] },
    { why: 'steps in order', files: [joined(head, step(1), step(2))], shown: [1, 2] },
    {
      why: 'a second file goes on',
      files: [joined(head, step(1)), joined(head, restartRecord(0, 2), step(2))],
      shown: [1, 2],
    },
    {
      why: 'a restart takes back what it repeats and what came after',
      files: [joined(head, step(1), step(2), step(3)), joined(head, restartRecord(0, 2), step(2))],
      shown: [1, 2],
    },
    {
      why: 'a step that was cut off is not shown',
      files: [joined(head, step(1), step(2).subarray(0, 30))],
      shown: [1],
    },
  ])('$why', ({ files, shown }) => {
    const steps = files.reduce((before, file) => shownAfter(file, before), new Set<number>());
    expect([...steps]).toEqual(shown);
  });
});

describe('histogramOf', () => {
  it.each([
    { why: 'no values', values: [], expected: null },
    {
      why: 'one value, however often',
      values: [2, 2],
      expected: { min: 2, max: 2, count: 2, sum: 4, sumOfSquares: 8, limits: [2], counts: [2] },
    },
  ])('$why', ({ values, expected }) => {
    expect(histogramOf([values])).toEqual(expected);
  });

  it('counts every value once, in a bucket that ends no lower, the largest in the last', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1 }), (values) => {
        const { count, limits, counts, max, min } = histogramOf([values])!;
        expect(count).toBe(values.length);
        expect(counts.reduce((total, n) => total + n, 0)).toBe(values.length);
        expect(limits.at(-1)).toBe(max);
        expect(limits).toEqual(limits.toSorted((a, b) => a - b));
        expect(counts[0]).toBeGreaterThan(0);
        expect(min === max || counts.at(-1)! > 0).toBe(true);
      }),
    );
  });
});
