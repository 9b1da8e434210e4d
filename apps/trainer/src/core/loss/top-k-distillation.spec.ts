import * as tf from '@tensorflow/tfjs';
import { useCpuBackend } from '../../testing/cpu-backend';
import reference from './reference-top-k-loss.json';
import { topKDistillationLoss } from './top-k-distillation';

const numbers = (tensor: tf.Tensor): number[] => Array.from(tensor.dataSync());
const position = (logProbs: readonly number[]): tf.Tensor3D => tf.tensor3d([[[...logProbs]]]);
const logs = (probabilities: readonly number[]): number[] => probabilities.map(Math.log);
const lossOf = (student: readonly number[], teacher: readonly number[]): number =>
  tf.tidy(() => numbers(topKDistillationLoss(position(student), position(teacher)))[0]!);

beforeAll(useCpuBackend);

it("topk_loss: agrees with the reference's value, and its gradient with finite differences", () => {
  const [positions, vocabulary, { K: k }] = [3, 8, reference.topk_loss];
  const logits = (of: (x: number) => number): number[][] =>
    Array.from({ length: positions }, (_, t) => Array.from({ length: vocabulary }, (_, v) => of(t * vocabulary + v)));
  const teacherRows = logits(Math.cos).map((row) => numbers(tf.logSoftmax(tf.tensor1d(row))));
  const ids = teacherRows.map((row) =>
    row
      .map((_, id) => id)
      .sort((a, b) => row[b]! - row[a]!)
      .slice(0, k),
  );
  const teacher = tf.tensor3d([teacherRows.map((row, t) => ids[t]!.map((id) => row[id]!))]);
  const chosen = tf.oneHot(tf.tensor2d(ids, [positions, k], 'int32'), vocabulary);
  const meanLoss = (studentLogits: tf.Tensor): tf.Scalar => {
    const rows = tf.logSoftmax(studentLogits);
    const gathered = tf.sum(tf.mul(chosen, tf.expandDims(rows, 1)), -1);
    return tf.mean(topKDistillationLoss(tf.expandDims(gathered, 0) as tf.Tensor3D, teacher));
  };
  const at = logits(Math.sin);
  expect(meanLoss(tf.tensor2d(at)).dataSync()[0]).toBeCloseTo(reference.topk_loss.loss, 5);

  const gradient = numbers(tf.grad(meanLoss)(tf.tensor2d(at)));
  const step = 1e-2;
  gradient.forEach((slope, i) => {
    const shifted = (by: number): number =>
      meanLoss(
        tf.tensor2d(at.map((row, t) => row.map((x, v) => (t * vocabulary + v === i ? x + by : x)))),
      ).dataSync()[0]!;
    expect(slope).toBeCloseTo((shifted(step) - shifted(-step)) / (2 * step), 3);
  });
});

describe('topKDistillationLoss', () => {
  it.each([
    { student: [0.5, 0.25], teacher: [0.5, 0.25], loss: 0, why: 'both agree' },
    // 0.5 log(0.5/0.25) + 0.25 log(0.25/0.25) + 0.25 log(0.25/0.5)
    { student: [0.5, 0.25], teacher: [0.25, 0.25], loss: 0.25 * Math.LN2, why: 'by hand: 0.5 ln 2 − 0.25 ln 2' },
    // The ids agree; what the teacher has beside them is where the student has it too.
    { student: [0.25], teacher: [0.5], loss: 0.25 * Math.log(0.5) + 0.75 * Math.log(1.5), why: 'one id and the tail' },
  ])('$student against $teacher: $loss, $why', ({ student, teacher, loss }) => {
    expect(lossOf(logs(student), logs(teacher))).toBeCloseTo(loss, 6);
  });

  it('is finite where the K ids hold all mass, on either side', () => {
    expect(Number.isFinite(lossOf([0, -30], [-0.5, -1.5]))).toBe(true);
    expect(Number.isFinite(lossOf([-0.5, -1.5], [0, -30]))).toBe(true);
    const gradient = tf.tidy(() =>
      numbers(
        tf.grad((x) => tf.sum(topKDistillationLoss(x as tf.Tensor3D, position([-0.5, -1.5]))))(position([0, -30])),
      ),
    );
    expect(gradient.every(Number.isFinite)).toBe(true);
  });

  it('moves the student towards the teacher', () => {
    const [first, second] = tf.tidy(() =>
      numbers(
        tf.grad((x) => tf.sum(topKDistillationLoss(x as tf.Tensor3D, position(logs([0.1, 0.6])))))(
          position(logs([0.6, 0.1])),
        ),
      ),
    );
    expect(first).toBeGreaterThan(0);
    expect(second).toBeLessThan(0);
  });

  it('a NaN is not hidden', () => {
    expect(lossOf([NaN, -1], [-1, -1])).toBeNaN();
  });

  it('refuses arguments of different shapes', () => {
    expect(() => topKDistillationLoss(position([-1, -2]), position([-1]))).toThrow(/log π_T/);
  });

  it('leaves no tensor behind under tidy', () => {
    const before = tf.memory().numTensors;
    for (let i = 0; i < 50; i++) lossOf([-1, -2], [-2, -1]);
    expect(tf.memory().numTensors).toBe(before);
  });
});
