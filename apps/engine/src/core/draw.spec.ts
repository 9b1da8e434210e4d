import { logSoftmax, mulberry32, sampleToken } from '@hindcast/language-model';
import fc from 'fast-check';
import { drawer } from './draw';

it.each([
  { temperature: 1, topP: 1, topK: 0 },
  { temperature: 0.7, topP: 1, topK: 0 },
  { temperature: 1.5, topP: 1, topK: 0 },
  { temperature: 1, topP: 0.8, topK: 0 },
  { temperature: 1, topP: 1, topK: 3 },
  { temperature: 0.8, topP: 0.9, topK: 7 },
  { temperature: 1.3, topP: 0.5, topK: 400 },
  { temperature: 1, topP: 1e-9, topK: 0 },
  { temperature: 0, topP: 1, topK: 0 },
])('draws the ids of sampleToken: %j', (options) => {
  const noise = mulberry32(1);
  const [ours, theirs] = [mulberry32(2), mulberry32(2)];
  const draw = drawer({ ...options, seed: 2 }, ours);
  for (let i = 0; i < 300; i++) {
    const logProbs = logSoftmax(Float32Array.from({ length: 50 }, () => 8 * noise()));
    if (i % 3 === 0) logProbs[i % 50] = -Infinity;
    expect(draw(logProbs)).toBe(sampleToken(logProbs, options, theirs).id);
  }
});

it.each([[Number.NaN], [Infinity], [-Infinity]])('refuses a model that gives %d', (value) => {
  const draw = drawer({ temperature: 1, topP: 1, topK: 0, seed: 0 }, () => 0.5);
  expect(() => draw(Float32Array.of(value, value))).toThrow('no numbers');
});

it('draws the id of sampleToken where the draw falls on the border between two tokens', () => {
  const logProbs = Float32Array.from({ length: 64 }, () => -Math.log(64));
  for (let id = 0; id <= 64; id++)
    for (const off of [-1e-11, -1e-16, 0, 1e-16, 1e-11]) {
      const u = Math.min(Math.max(id / 64 + off, 0), 1 - 2 ** -53);
      const sampling = { temperature: 1, topP: 1, topK: 0 };
      expect(drawer({ ...sampling, seed: 0 }, () => u)(logProbs)).toBe(sampleToken(logProbs, sampling, () => u).id);
    }
});

it('draws the id of sampleToken under any filter, where weights are equal too', () => {
  const logits = fc.array(fc.oneof(fc.integer({ min: -3, max: 0 }), fc.constant(-Infinity)), {
    minLength: 1,
    maxLength: 30,
  });
  const u = fc.oneof(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.constantFrom(0, 0.25, 0.5));
  const topP = fc.oneof(fc.constantFrom(0.25, 0.5, 1), fc.double({ min: 0.01, max: 1, noNaN: true }));
  fc.assert(
    fc.property(logits, u, topP, fc.nat(40), (values, draw, p, k) => {
      fc.pre(values.some(Number.isFinite));
      const logProbs = logSoftmax(Float32Array.from(values));
      const sampling = { temperature: 1, topP: p, topK: k };
      expect(drawer({ ...sampling, seed: 0 }, () => draw)(logProbs)).toBe(
        sampleToken(logProbs, sampling, () => draw).id,
      );
    }),
    { numRuns: 2000 },
  );
});
