import { execFileSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { ModelFormatError } from './errors';
import { float32Tensor, sizeOf, type HostTensor } from './host-tensor';
import { encodeSafetensors, readSafetensors, readSafetensorsHeader, writeSafetensors } from './safetensors';
import { temporaryFolder } from './testing/temporary-folder';

const folder = temporaryFolder();
const path = (): string => join(folder(), 'x.safetensors');

/** A file with this header text (or value) and so many bytes after it. */
async function file(header: unknown, dataBytes = 0): Promise<string> {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(json.length));
  await writeFile(path(), Buffer.concat([prefix, json, Buffer.alloc(dataBytes)]));
  return path();
}

const tensor = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 3 }).chain((shape): fc.Arbitrary<HostTensor> => {
  const size = sizeOf(shape);
  return fc.oneof(
    fc.float32Array({ minLength: size, maxLength: size }).map((data) => ({ dtype: 'float32' as const, shape, data })),
    fc.int32Array({ minLength: size, maxLength: size }).map((data) => ({ dtype: 'int32' as const, shape, data })),
  );
});
const name = fc
  .oneof(fc.string(), fc.constantFrom('7', '0', '__proto__', 'ü"\\'))
  .filter((text) => text !== '__metadata__');

describe('safetensors', () => {
  it('reads back what it wrote: any names, shapes, numbers (NaN too) and metadata', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.tuple(name, tensor), { selector: ([key]) => key, maxLength: 6 }),
        fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }),
        async (list, metadata) => {
          await writeFile(path(), Buffer.concat(encodeSafetensors(new Map(list), metadata)));
          const read = await readSafetensors(path());
          expect(new Map(list)).toEqual(read);
          expect({ ...(await readSafetensorsHeader(path())).metadata }).toEqual({ ...metadata });
        },
      ),
      { numRuns: 60 },
    );
  });

  it('widens BF16 and F16 exactly', async () => {
    const header = {
      b: { dtype: 'BF16', shape: [3], data_offsets: [0, 6] },
      h: { dtype: 'F16', shape: [2, 4], data_offsets: [6, 22] },
    };
    const target = await file(header);
    const bits = Uint16Array.of(0x3f80, 0xc049, 0x7f80, 0x3c00, 0xc000, 0x7bff, 0x0001, 0x83ff, 0x7c00, 0x8000, 0x3555);
    await writeFile(target, Buffer.concat([await readFile(target), new Uint8Array(bits.buffer)]));
    const read = await readSafetensors(target);
    expect(read.get('b')).toEqual({ dtype: 'float32', shape: [3], data: Float32Array.of(1, -3.140625, Infinity) });
    expect(read.get('h')).toEqual({
      dtype: 'float32',
      shape: [2, 4],
      data: Float32Array.of(1, -2, 65504, 2 ** -24, -1023 * 2 ** -24, Infinity, -0, 0.333251953125),
    });
  });

  it('writes a file as the format asks: sorted, data on a multiple of 8 bytes, no temporary left', async () => {
    const target = join(folder(), 'w.safetensors');
    await writeSafetensors(
      target,
      new Map([
        ['b', float32Tensor([2], Float32Array.of(1, 2))],
        ['a', float32Tensor([], Float32Array.of(3))],
      ]),
      { format: 'pt' },
    );
    const bytes = await readFile(target);
    const length = Number(bytes.readBigUInt64LE());
    expect(length % 8).toBe(0);
    expect(JSON.parse(bytes.subarray(8, 8 + length).toString())).toEqual({
      __metadata__: { format: 'pt' },
      a: { dtype: 'F32', shape: [], data_offsets: [0, 4] },
      b: { dtype: 'F32', shape: [2], data_offsets: [4, 12] },
    });
    expect(new Float32Array(new Uint8Array(bytes.subarray(8 + length)).buffer)).toEqual(Float32Array.of(3, 1, 2));
    expect((await readdir(folder())).filter((entry) => entry.endsWith('.tmp'))).toEqual([]);
  });

  const a = { dtype: 'F32', shape: [2], data_offsets: [0, 8] };
  it.each([
    { why: 'header is no JSON', header: '{"a":', bytes: 0, error: 'not JSON' },
    { why: 'header is no object', header: '[1]', bytes: 0, error: 'does not begin with {' },
    { why: 'metadata is not strings', header: { __metadata__: { a: 1 } }, bytes: 0, error: '__metadata__' },
    { why: 'entry is no object', header: { a: 3 }, bytes: 0, error: 'tensor a: not an object' },
    { why: 'unknown dtype', header: { a: { ...a, dtype: 'F8_E4M3' } }, bytes: 8, error: '"F8_E4M3" is not one of F32' },
    {
      why: 'dtype is a property of objects',
      header: { a: { ...a, dtype: 'toString' } },
      bytes: 8,
      error: 'is not one of',
    },
    { why: 'negative size', header: { a: { ...a, shape: [-2] } }, bytes: 8, error: 'not a list of sizes' },
    { why: 'size with a fraction', header: { a: { ...a, shape: [0.5, 4] } }, bytes: 8, error: 'not a list of sizes' },
    { why: 'shape missing', header: { a: { ...a, shape: undefined } }, bytes: 8, error: 'not a list of sizes' },
    { why: 'offsets are three', header: { a: { ...a, data_offsets: [0, 4, 8] } }, bytes: 8, error: 'not a pair' },
    {
      why: 'size against shape',
      header: { a: { ...a, shape: [3] } },
      bytes: 8,
      error: '8 bytes for shape [3] of F32, which needs 12',
    },
    {
      why: 'product of sizes overflows',
      header: { a: { ...a, shape: [2 ** 40, 2 ** 40] } },
      bytes: 8,
      error: 'which needs',
    },
    { why: 'end before begin', header: { a: { ...a, data_offsets: [8, 0] } }, bytes: 8, error: '-8 bytes' },
    { why: 'gap', header: { a, b: { ...a, data_offsets: [12, 20] } }, bytes: 20, error: 'beyond the end' },
    { why: 'overlap', header: { a, b: { ...a, data_offsets: [4, 12] } }, bytes: 12, error: 'over the end' },
    { why: 'the same place twice', header: { a, b: a }, bytes: 8, error: 'over the end' },
    { why: 'gap at the start', header: { a: { ...a, data_offsets: [4, 12] } }, bytes: 12, error: 'beyond the end' },
    { why: 'trailing bytes', header: { a }, bytes: 9, error: 'cover 8 bytes, the file has 9' },
    { why: 'data cut short', header: { a }, bytes: 7, error: 'cover 8 bytes, the file has 7' },
    { why: 'negative offset', header: { a: { ...a, data_offsets: [-8, 0] } }, bytes: 8, error: 'not a pair' },
    { why: 'offset beyond 2⁵³', header: { a: { ...a, data_offsets: [0, 2 ** 60] } }, bytes: 8, error: 'not a pair' },
    {
      why: 'end beyond the file',
      header: { a: { ...a, shape: [4], data_offsets: [0, 16] } },
      bytes: 8,
      error: 'cover',
    },
    { why: 'offsets are texts', header: { a: { ...a, data_offsets: ['0', '8'] } }, bytes: 8, error: 'not a pair' },
    {
      why: '64-bit numbers',
      header: { a: { ...a, dtype: 'F64', shape: [1] } },
      bytes: 8,
      error: '"F64" is not one of',
    },
    {
      why: 'name stands twice, in the same place',
      header: `{"a":${JSON.stringify(a)},"a":${JSON.stringify(a)}}`,
      bytes: 8,
      error: 'has "a" twice',
    },
    {
      why: 'name stands twice, in two places',
      header: `{"a":${JSON.stringify(a)},"a":${JSON.stringify({ ...a, data_offsets: [8, 16] })}}`,
      bytes: 16,
      error: 'has "a" twice',
    },
    {
      why: 'field stands twice',
      header: '{"a":{"dtype":"F32","shape":[4],"shape":[2],"data_offsets":[0,8]}}',
      bytes: 8,
      error: 'has "shape" twice',
    },
    {
      why: 'dtype is nested beyond any stack',
      header: `{"a":{"dtype":${'['.repeat(50_000)}${']'.repeat(50_000)},"shape":[2],"data_offsets":[0,8]}}`,
      bytes: 8,
      error: 'tensor a: dtype',
    },
  ])('refuses a file whose $why', async ({ header, bytes, error }) => {
    const target = await file(header, bytes);
    await expect(readSafetensors(target)).rejects.toThrow(ModelFormatError);
    await expect(readSafetensors(target)).rejects.toThrow(error);
  });

  it('refuses a header that is not UTF-8, a file that is not there, a folder and a pipe', async () => {
    const json = Buffer.from('{"?":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}');
    json[2] = 0xff;
    const prefix = Buffer.alloc(8);
    prefix.writeBigUInt64LE(BigInt(json.length));
    await writeFile(path(), Buffer.concat([prefix, json, Buffer.alloc(4)]));
    await expect(readSafetensors(path())).rejects.toThrow('not JSON in UTF-8');
    execFileSync('mkfifo', [join(folder(), 'pipe')]);
    for (const missing of [join(folder(), 'nowhere.safetensors'), folder(), join(folder(), 'pipe')])
      await expect(readSafetensors(missing)).rejects.toThrow(ModelFormatError);
  });

  it('names a tensor in a message no longer than a line', async () => {
    const target = await file({ ['x'.repeat(1e6)]: { ...a, dtype: 'y'.repeat(1e6) } }, 8);
    const error = (await readSafetensors(target).catch((cause: unknown) => cause)) as Error;
    expect(error).toBeInstanceOf(ModelFormatError);
    expect(error.message.length).toBeLessThan(500);
  });

  it('refuses a header longer than the file, or than any header', async () => {
    for (const [length, error] of [
      [3n, 'beyond the file'],
      [2n ** 63n, 'over the limit'],
    ] as const) {
      const prefix = Buffer.alloc(10);
      prefix.writeBigUInt64LE(length);
      await writeFile(path(), prefix);
      await expect(readSafetensors(path())).rejects.toThrow(error);
    }
  });

  it('refuses a file cut anywhere', async () => {
    const whole = Buffer.concat(encodeSafetensors(new Map([['a', float32Tensor([2], Float32Array.of(1, 2))]])));
    for (let length = 0; length < whole.length; length++) {
      await writeFile(path(), whole.subarray(0, length));
      await expect(readSafetensors(path())).rejects.toThrow(ModelFormatError);
    }
  });

  it('meets any bytes with a tensor map or a ModelFormatError, nothing else', async () => {
    const whole = Buffer.concat(
      encodeSafetensors(
        new Map([
          ['a', float32Tensor([2, 1], Float32Array.of(1, 2))],
          ['b', float32Tensor([1], Float32Array.of(3))],
        ]),
      ),
    );
    const changed = fc
      .array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 })
      .map((edits) => {
        const bytes = Buffer.from(whole);
        for (const [at, byte] of edits) bytes[at] = byte;
        return bytes;
      });
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.uint8Array({ maxLength: 40 }), changed), async (bytes) => {
        await writeFile(path(), bytes);
        const read = await readSafetensors(path()).catch((error: unknown) => error);
        if (read instanceof Map) for (const { shape, data } of read.values()) expect(data.length).toBe(sizeOf(shape));
        else expect(read).toBeInstanceOf(ModelFormatError);
      }),
      { numRuns: 300 },
    );
  });

  it('meets any header with a tensor map or a ModelFormatError, nothing else', async () => {
    const odd = fc.oneof(fc.jsonValue(), fc.constantFrom(-1, 0, 1, 2, 4, 8, 2 ** 53, 1e300, 'F32', 'BF16', null));
    const entry = fc.record(
      { dtype: fc.oneof(fc.constantFrom('F32', 'BF16', 'F16', 'I32'), odd), shape: odd, data_offsets: odd },
      { requiredKeys: [] },
    );
    const sound = fc
      .tuple(fc.constantFrom('F32', 'I32'), fc.nat(4), fc.nat(4))
      .map(([dtype, count, at]) => ({ dtype, shape: [count], data_offsets: [4 * at, 4 * (at + count)] }));
    const header = fc.dictionary(name, fc.oneof(sound, entry, odd), { maxKeys: 3 });
    await fc.assert(
      fc.asyncProperty(header, fc.nat(40), async (fields, bytes) => {
        const read = await readSafetensors(await file(fields, bytes)).catch((error: unknown) => error);
        if (!(read instanceof Map)) return expect(read).toBeInstanceOf(ModelFormatError);
        const covered = [...read.values()].reduce((total, { data }: HostTensor) => total + data.byteLength, 0);
        expect(covered).toBe(bytes);
      }),
      { numRuns: 400 },
    );
  });

  it('does not write a tensor whose numbers do not match its shape', () => {
    expect(() =>
      encodeSafetensors(new Map([['a', { dtype: 'float32', shape: [3], data: new Float32Array(2) }]])),
    ).toThrow('2 values for shape [3]');
  });
});
