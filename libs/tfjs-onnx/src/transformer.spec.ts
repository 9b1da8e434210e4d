import * as tf from '@tensorflow/tfjs';
import { CompiledFunction } from './compiled-function';
import type { HostTensor } from './host-tensor';
import { assertClose, host, ids, noise, runCpu, runOnnx } from './testing/compare';

// A LLaMA-style model, small enough for finite differences, with the PPO loss that the trainer takes gradients of.
const B = 2;
const T = 5;
const D = 8;
const H = 4;
const KV = 2;
const HEAD = D / H;
const FF = 12;
const V = 17;

type Tensors = Record<string, tf.Tensor>;

const weights: Record<string, HostTensor> = {
  embedding: noise([V, D], 1, 0.6),
  norm: host('float32', [D], [1, 0.9, 1.1, 1, 1.2, 0.8, 1, 1.05]),
  query: noise([D, D], 2, 0.6),
  key: noise([D, KV * HEAD], 3, 0.6),
  value: noise([D, KV * HEAD], 4, 0.6),
  output: noise([D, D], 5, 0.6),
  gate: noise([D, FF], 6, 0.6),
  up: noise([D, FF], 7, 0.6),
  down: noise([FF, D], 8, 0.6),
};

const batch: Record<string, HostTensor> = {
  tokens: ids([B * T], V, 9),
  targets: ids([B * T], V, 10),
  advantages: noise([B * T], 11, 2),
  mask: host('float32', [B * T], [0, 1, 1, 1, 1, 0, 0, 1, 1, 1]),
  // Distances from the current log-probs that put ratios inside the clip range and outside on both sides.
  gap: host('float32', [B * T], [0, 0.05, -0.4, 0.4, -0.1, 0, 0, 0.5, -0.5, 0.02]),
};

function rmsNorm(x: tf.Tensor, weight: tf.Tensor): tf.Tensor {
  return tf.mul(tf.mul(x, tf.rsqrt(tf.add(tf.mean(tf.square(x), -1, true), 1e-5))), weight);
}

function rotary(x: tf.Tensor): tf.Tensor {
  const positions = tf.range(0, T).reshape([1, T, 1, 1]);
  const angles = tf.mul(positions, tf.pow(tf.scalar(10_000), tf.linspace(0, -1, HEAD / 2)));
  const [cos, sin] = [tf.cos(angles), tf.sin(angles)];
  const [left, right] = tf.split(x, 2, -1) as [tf.Tensor, tf.Tensor];
  return tf.concat([tf.sub(tf.mul(left, cos), tf.mul(right, sin)), tf.add(tf.mul(right, cos), tf.mul(left, sin))], -1);
}

function attention(x: tf.Tensor, w: Tensors): tf.Tensor {
  const heads = (weight: tf.Tensor, count: number): tf.Tensor =>
    tf.reshape(tf.matMul(x as tf.Tensor2D, weight as tf.Tensor2D), [B, T, count, HEAD]);
  const group = H / KV;
  const q = tf.reshape(rotary(heads(w['query']!, H)), [B, T, KV, group * HEAD]);
  const query = tf.reshape(tf.transpose(q, [0, 2, 1, 3]), [B * KV, T * group, HEAD]);
  const [key, value] = [rotary(heads(w['key']!, KV)), heads(w['value']!, KV)].map((t) =>
    tf.reshape(tf.transpose(t, [0, 2, 1, 3]), [B * KV, T, HEAD]),
  ) as [tf.Tensor, tf.Tensor];
  const scores = tf.reshape(tf.mul(tf.matMul(query, key, false, true), HEAD ** -0.5), [B * KV, T, group, T]);
  const steps = tf.range(0, T);
  const isVisible = tf.lessEqual(tf.reshape(steps, [1, 1, 1, T]), tf.reshape(steps, [1, T, 1, 1]));
  const masked = tf.where(isVisible, scores, tf.scalar(-1e9));
  const mixed = tf.matMul(tf.reshape(tf.softmax(masked), [B * KV, T * group, T]), value);
  const rows = tf.transpose(tf.reshape(mixed, [B, KV, T, group * HEAD]), [0, 2, 1, 3]);
  return tf.matMul(tf.reshape(rows, [B * T, D]), w['output'] as tf.Tensor2D);
}

function logits(tokens: tf.Tensor, w: Tensors): tf.Tensor {
  const embedded = tf.gather(w['embedding']!, tokens as tf.Tensor1D);
  const attended = tf.add(embedded, attention(rmsNorm(embedded, w['norm']!), w));
  const x = rmsNorm(attended, w['norm']!) as tf.Tensor2D;
  const gate = tf.matMul(x, w['gate'] as tf.Tensor2D);
  const swiglu = tf.mul(tf.mul(gate, tf.sigmoid(gate)), tf.matMul(x, w['up'] as tf.Tensor2D));
  const last = tf.add(attended, tf.matMul(swiglu as tf.Tensor2D, w['down'] as tf.Tensor2D));
  return tf.matMul(rmsNorm(last, w['norm']!), w['embedding']!, false, true);
}

/** log π(token), with a gradient of its own that keeps no [N, V] array but the logits. */
const tokenLogProbs = tf.customGrad((...args: (tf.Tensor | tf.GradSaveFunc)[]) => {
  const [scores, targets, save] = args as [tf.Tensor, tf.Tensor, tf.GradSaveFunc];
  const normalizer = tf.logSumExp(scores, 1, true);
  const chosen = tf.sum(tf.mul(scores, tf.oneHot(tf.cast(targets, 'int32'), V)), 1);
  save([scores, targets, normalizer]);
  return {
    value: tf.sub(chosen, tf.squeeze(normalizer, [1])),
    gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
      const [scores, targets, normalizer] = saved as [tf.Tensor, tf.Tensor, tf.Tensor];
      const probabilities = tf.exp(tf.sub(scores, normalizer));
      const toward = tf.sub(tf.oneHot(tf.cast(targets, 'int32'), V), probabilities);
      return [tf.mul(toward, tf.expandDims(dy, 1)), tf.zerosLike(targets)];
    },
  };
});

type LogProbs = (scores: tf.Tensor, targets: tf.Tensor) => tf.Tensor;

const ways: [string, LogProbs][] = [
  ['customGrad', (scores, targets) => tokenLogProbs(scores, tf.cast(targets, 'float32'))],
  [
    'logSoftmax · oneHot',
    (scores, targets) => tf.sum(tf.mul(tf.logSoftmax(scores), tf.oneHot(targets as tf.Tensor1D, V)), 1),
  ],
  [
    'gather in batches',
    (scores, targets) => tf.squeeze(tf.gather(tf.logSoftmax(scores), tf.expandDims(targets, 1), 1, 1), [1]),
  ],
];

function ppoLoss(logProbs: LogProbs, inputs: Tensors, w: Tensors): tf.Tensor {
  const current = logProbs(logits(inputs['tokens']!, w), inputs['targets']!);
  const ratio = tf.exp(tf.sub(current, inputs['oldLogProbs']!));
  const surrogate = tf.minimum(
    tf.mul(ratio, inputs['advantages']!),
    tf.mul(tf.clipByValue(ratio, 0.8, 1.28), inputs['advantages']!),
  );
  return tf.neg(tf.div(tf.sum(tf.mul(surrogate, inputs['mask']!)), tf.sum(inputs['mask']!)));
}

function gradientStep(logProbs: LogProbs): (inputs: Tensors) => Tensors {
  const names = Object.keys(weights);
  return (inputs) => {
    const { value, grads } = tf.valueAndGrads((...w: tf.Tensor[]) =>
      ppoLoss(logProbs, inputs, Object.fromEntries(names.map((name, index) => [name, w[index]!]))),
    )(names.map((name) => inputs[name]!));
    return { loss: value, ...Object.fromEntries(names.map((name, index) => [name, grads[index]!])) };
  };
}

async function inputsWithOldLogProbs(): Promise<Record<string, HostTensor>> {
  const now = await runCpu((inputs) => ({ y: ways[1]![1](logits(inputs['tokens']!, inputs), inputs['targets']!) }), {
    ...batch,
    ...weights,
  });
  const old = now['y']!.data.map((value, index) => value + batch['gap']!.data[index]!);
  return { ...batch, ...weights, oldLogProbs: host('float32', [B * T], old) };
}

describe('the gradient of a PPO loss through a transformer', () => {
  it.each(ways)('is that of the cpu backend (log-probs by %s)', async (_name, logProbs) => {
    const inputs = await inputsWithOldLogProbs();
    const fn = gradientStep(logProbs);
    assertClose(await runOnnx(fn, inputs), await runCpu(fn, inputs), 2e-5);
  });

  it.each(ways.slice(0, 2))('is that of finite differences (log-probs by %s)', async (_name, logProbs) => {
    const inputs = await inputsWithOldLogProbs();
    const loss = new CompiledFunction((t: Tensors) => ({ loss: ppoLoss(logProbs, t, t) }), { threads: 1 });
    const gradients = await runOnnx(gradientStep(logProbs), inputs);
    const lossAt = async (name: string, index: number, value: number): Promise<number> => {
      const data = inputs[name]!.data.slice();
      data[index] = value;
      return (await loss.run({ ...inputs, [name]: { ...inputs[name]!, data } }))['loss']!.data[0]!;
    };
    for (const [name, weight] of Object.entries(weights)) {
      const gradient = gradients[name]!.data as Float32Array;
      const rms = Math.sqrt(gradient.reduce((sum, value) => sum + value * value, 0) / gradient.length);
      for (const index of [0, Math.floor(gradient.length / 3), gradient.length - 2]) {
        const at = weight.data[index]!;
        const h = 4e-3;
        const near = (await lossAt(name, index, at + h)) - (await lossAt(name, index, at - h));
        const far = (await lossAt(name, index, at + 2 * h)) - (await lossAt(name, index, at - 2 * h));
        const expected = (8 * near - far) / (12 * h);
        const error = Math.abs(expected - gradient[index]!) / (Math.abs(expected) + Math.abs(gradient[index]!) + rms);
        // float32 losses carry about 1e-7, which the difference divides by h.
        if (error > 5e-3) throw new Error(`${name}[${index}]: ${gradient[index]}, by differences ${expected}`);
      }
    }
    await loss.dispose();
  });

  it('trains: loss, gradient and Adam are one graph whose outputs are the next inputs', async () => {
    const names = Object.keys(weights);
    const [beta1, beta2] = [0.9, 0.95];
    const loss = (w: Tensors, t: Tensors): tf.Tensor =>
      tf.neg(tf.mean(ways[1]![1](logits(t['tokens']!, w), t['targets']!)));
    const fn = (t: Tensors): Tensors => {
      const { value, grads } = tf.valueAndGrads((...w: tf.Tensor[]) =>
        loss(Object.fromEntries(names.map((name, index) => [name, w[index]!])), t),
      )(names.map((name) => t[name]!));
      const next: Tensors = { loss: value };
      for (const [index, name] of names.entries()) {
        const gradient = grads[index]!;
        const m = tf.add(tf.mul(t[`m/${name}`]!, beta1), tf.mul(gradient, 1 - beta1));
        const v = tf.add(tf.mul(t[`v/${name}`]!, beta2), tf.mul(tf.square(gradient), 1 - beta2));
        const step = tf.div(tf.div(m, t['bias1']!), tf.add(tf.sqrt(tf.div(v, t['bias2']!)), 1e-8));
        next[name] = tf.sub(t[name]!, tf.mul(step, t['learningRate']!));
        next[`m/${name}`] = m;
        next[`v/${name}`] = v;
      }
      return next;
    };
    const train = new CompiledFunction(fn, { threads: 1 });
    const { tokens, targets } = batch as Record<'tokens' | 'targets', HostTensor>;
    let state: Record<string, HostTensor> = { ...weights };
    for (const [name, { shape, data }] of Object.entries(weights)) {
      for (const moment of ['m', 'v'])
        state[`${moment}/${name}`] = host('float32', shape, new Float32Array(data.length));
    }
    const losses: number[] = [];
    for (let step = 1; step <= 60; step++) {
      const scalars = { learningRate: 0.02, bias1: 1 - beta1 ** step, bias2: 1 - beta2 ** step };
      const inputs = Object.fromEntries(
        Object.entries(scalars).map(([name, value]) => [name, host('float32', [], [value])]),
      );
      const { loss, ...next } = await train.run({ ...state, ...inputs, tokens, targets });
      state = next as Record<string, HostTensor>;
      losses.push(loss!.data[0]!);
    }
    expect(train.stats.recordings).toBe(1);
    expect(losses[0]).toBeGreaterThan(2);
    expect(losses.at(-1)).toBeLessThan(0.3);
    await train.dispose();
  });
});
