import { CompiledFunction } from '@hindcast/tfjs-onnx';
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-backend-wasm';
import { float32Tensor } from './host-tensor';
import { DROPOUT_MODULUS, dropoutKeys, dropoutMask } from './lora-dropout';

const ROWS = 300;
const COLUMNS = 200;
const keys = (seed: number, count: number) => float32Tensor([count, 2], dropoutKeys(seed, count));
const maskOf = (rate: number, inputs: Readonly<Record<string, tf.Tensor>>): tf.Tensor2D =>
  dropoutMask({ rate, rows: inputs['rows'] as tf.Tensor2D, columns: { q: inputs['columns'] as tf.Tensor2D } }, 'q');

async function drawn(backend: 'cpu' | 'wasm', rate: number, seed = 1): Promise<Float32Array> {
  await tf.setBackend(backend);
  return tf.tidy(() => {
    const [rows, columns] = [keys(seed, ROWS), keys(seed + 1, COLUMNS)].map(({ data, shape }) =>
      tf.tensor(data, [...shape]),
    );
    return maskOf(rate, { rows: rows!, columns: columns! }).dataSync() as Float32Array;
  });
}

/** Share of the pairs of lines that are kept at both. */
const agreement = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).filter((x, i) => x > 0 === b[i]! > 0).length / a.length;

beforeAll(() => tf.enableProdMode());

describe('dropoutMask', () => {
  it('is the same on cpu, wasm and in a recorded graph, bit for bit, and drawn anew from other keys', async () => {
    const cpu = await drawn('cpu', 0.3);
    expect(await drawn('wasm', 0.3)).toEqual(cpu);
    const graph = new CompiledFunction((inputs) => ({ mask: maskOf(0.3, inputs) }), { threads: 2 });
    const recorded = await graph.run({ rows: keys(1, ROWS), columns: keys(2, COLUMNS) });
    const again = await graph.run({ rows: keys(3, ROWS), columns: keys(2, COLUMNS) });
    await graph.dispose();
    expect(recorded['mask']!.data).toEqual(cpu);
    expect(again['mask']!.data).not.toEqual(cpu);
  });

  it('of all keys is the arithmetic of whole numbers, at the largest ones too', () => {
    const p = BigInt(DROPOUT_MODULUS);
    const expected = (r1: number, r2: number, c1: number, c2: number): boolean => {
      const first = (BigInt(r1) * BigInt(c1) + BigInt(r2)) ** 3n % p;
      return (first + BigInt(c2)) ** 3n % p >= BigInt(Math.round(0.5 * DROPOUT_MODULUS));
    };
    const [rows, columns] = [dropoutKeys(5, 40), dropoutKeys(6, 40)];
    rows.fill(DROPOUT_MODULUS - 1, 0, 2);
    columns.fill(DROPOUT_MODULUS - 1, 0, 2);
    const mask = tf.tidy(() =>
      maskOf(0.5, { rows: tf.tensor2d(rows, [40, 2]), columns: tf.tensor2d(columns, [40, 2]) }).arraySync(),
    );
    mask.forEach((row, i) =>
      row.forEach((value, j) =>
        expect(value > 0).toBe(expected(rows[2 * i]!, rows[2 * i + 1]!, columns[2 * j]!, columns[2 * j + 1]!)),
      ),
    );
  });

  it.each([0.05, 0.1, 0.5, 0.9])('leaves out a share of %f, and its mean is 1', async (rate) => {
    const mask = await drawn('cpu', rate);
    const left = mask.filter((value) => value === 0).length / mask.length;
    // Five standard deviations of 60,000 draws.
    expect(Math.abs(left - rate)).toBeLessThan(5 * Math.sqrt((rate * (1 - rate)) / mask.length) + 1 / DROPOUT_MODULUS);
    const kept = mask.find((value) => value > 0)!;
    const exactRate = Math.round(rate * DROPOUT_MODULUS) / DROPOUT_MODULUS;
    expect(kept * (1 - exactRate)).toBeCloseTo(1, 6);
  });

  it('has rows and columns that know nothing of each other', async () => {
    const mask = await drawn('cpu', 0.5);
    const row = (i: number): Float32Array => mask.subarray(i * COLUMNS, (i + 1) * COLUMNS);
    const column = (j: number): number[] => Array.from({ length: ROWS }, (_, i) => mask[i * COLUMNS + j]!);
    for (let i = 1; i < 100; i++) {
      expect(Math.abs(agreement(row(0), row(i)) - 0.5)).toBeLessThan(0.2);
      expect(Math.abs(agreement(column(0), column(i)) - 0.5)).toBeLessThan(0.2);
    }
  });

  it('keeps everything at rate 0', async () => {
    expect((await drawn('cpu', 0)).every((value) => value === 1)).toBe(true);
  });

  it('refuses a module without keys', () => {
    const rows = tf.zeros<tf.Rank.R2>([1, 2]);
    expect(() => dropoutMask({ rate: 0.5, rows, columns: {} }, 'q')).toThrow('no dropout keys for q');
    rows.dispose();
  });
});
