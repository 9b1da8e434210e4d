import type * as tf from '@tensorflow/tfjs';
import type { ElementType } from '../host-tensor';
import { broadcastShapes, type Recorded, type Recording, sameShape } from '../recording';
import { assertType, type Kernel, required } from './kernel';

/** An ONNX operator with the same meaning for one tensor. tfjs-cpu truncates floats into int32 here; that is refused. */
function unary(kernel: string, op: string, ...types: ElementType[]): Kernel {
  return (recording, inputs) => {
    const x = required(inputs, 'x');
    assertType(kernel, x, ...types);
    return recording.elementwise(op, [x], x.dtype);
  };
}

function binary(kernel: string, op: string, ...types: ElementType[]): Kernel {
  return (recording, inputs) => {
    const { a, b } = operands(kernel, inputs, types);
    return recording.elementwise(op, [a, b], a.dtype);
  };
}

function comparison(kernel: string, op: string, ...types: ElementType[]): Kernel {
  return (recording, inputs) => {
    const { a, b } = operands(kernel, inputs, types);
    return recording.elementwise(op, [a, b], 'bool');
  };
}

function operands(
  kernel: string,
  inputs: Parameters<Kernel>[1],
  types: readonly ElementType[],
): { a: Recorded; b: Recorded } {
  const a = required(inputs, 'a');
  const b = required(inputs, 'b');
  if (a.dtype !== b.dtype) throw new TypeError(`${kernel} of ${a.dtype} and ${b.dtype}: cast one of them first`);
  assertType(kernel, a, ...types);
  return { a, b };
}

const add: Kernel = (recording, inputs) => {
  const { a, b } = operands('Add', inputs, ['float32', 'int32']);
  return addRows(recording, a, b) ?? recording.elementwise('Add', [a, b], a.dtype);
};

/** Of a sum of rows with anything else: still one, with more to add up. */
function addRows(recording: Recording, a: Recorded, b: Recorded): Recorded | null {
  if ((!a.rowSum && !b.rowSum) || !sameShape(a.shape, b.shape)) return null;
  const denses = [a, b].flatMap((x) => (x.rowSum ? (x.rowSum.dense ?? []) : x));
  const dense = denses.length === 2 ? recording.elementwise('Add', denses, 'float32') : (denses[0] ?? null);
  const rows = [a, b].flatMap((x) => x.rowSum?.rows ?? []);
  const make = () => recording.full(recording.elementwise('Add', [a, b], 'float32'));
  return recording.summed({ dense, rows, make }, a.shape);
}

const multiply: Kernel = (recording, inputs) => {
  const { a, b } = operands('Multiply', inputs, ['float32', 'int32']);
  const broadcast = timesOne(a, b) ?? timesOne(b, a);
  return broadcast ?? recording.elementwise('Mul', [a, b], a.dtype);
};

/** x · ones(shape), with which tfjs broadcasts gradients of sums: the same value in another shape, no operator. */
function timesOne(x: Recorded, ones: Recorded): Recorded | null {
  if (ones.uniform !== 1 || x.host !== null || x.rowSum || ones.shape.length < x.shape.length) return null;
  const covered = x.shape.every((dim, axis) => {
    const target = ones.shape[ones.shape.length - x.shape.length + axis];
    return dim === target || dim === 1;
  });
  return covered ? { ...x, shape: ones.shape, full: null, asFloat: null } : null;
}

/**
 * ⌊a/b⌋ as int32. In float64, where int32 quotients are exact; onnxruntime's int32 division truncates and traps on zero.
 * Division by zero gives 0, as tfjs' cpu backend does.
 */
const floorDiv: Kernel = (recording, inputs) => {
  const { a, b } = operands('FloorDiv', inputs, ['float32', 'int32']);
  const { graph } = recording;
  const [left, right] = [recording.compact(a), recording.compact(b)];
  const quotient = graph.op('Div', [graph.cast(left.value, 'float64'), graph.cast(right.value, 'float64')]);
  const zero = graph.constant(b.dtype === 'int32' ? Int32Array.of(0) : Float32Array.of(0), []);
  const floor = graph.op('Where', [
    graph.op('Equal', [right.value, zero]),
    graph.constant(Float64Array.of(0), []),
    graph.op('Floor', [quotient]),
  ]);
  const shape = broadcastShapes(a.shape, b.shape);
  return recording.symbolic(graph.cast(floor, 'int32'), 'int32', shape, broadcastShapes(left.dims, right.dims));
};

const clipByValue: Kernel = (recording, inputs, attrs) => {
  const x = required(inputs, 'x');
  assertType('ClipByValue', x, 'float32', 'int32');
  const { clipValueMin, clipValueMax } = attrs as tf.ClipByValueAttrs;
  if (x.dtype === 'int32' && !(Number.isInteger(clipValueMin) && Number.isInteger(clipValueMax))) {
    throw new RangeError(`an int32 tensor cannot be clipped to ${clipValueMin}..${clipValueMax}; cast it to float32`);
  }
  const above = recording.elementwise('Max', [x, recording.scalar(clipValueMin, x.dtype)], x.dtype);
  return recording.elementwise('Min', [above, recording.scalar(clipValueMax, x.dtype)], x.dtype);
};

/** 1 where x > 0, else alpha; NaN stays NaN. */
const step: Kernel = (recording, inputs, attrs) => {
  const x = required(inputs, 'x');
  assertType('Step', x, 'float32');
  const { alpha } = attrs as tf.StepAttrs;
  const positive = recording.elementwise('Greater', [x, recording.scalar(0, 'float32')], 'bool');
  const stepped = recording.select(positive, recording.scalar(1, 'float32'), recording.scalar(alpha, 'float32'));
  return recording.select(recording.elementwise('IsNaN', [x], 'bool'), x, stepped);
};

const rsqrt: Kernel = (recording, inputs) => {
  const x = required(inputs, 'x');
  assertType('Rsqrt', x, 'float32');
  return recording.elementwise('Reciprocal', [recording.elementwise('Sqrt', [x], 'float32')], 'float32');
};

const square: Kernel = (recording, inputs) => {
  const x = required(inputs, 'x');
  assertType('Square', x, 'float32', 'int32');
  return recording.elementwise('Mul', [x, x], x.dtype);
};

const squaredDifference: Kernel = (recording, inputs) => {
  const { a, b } = operands('SquaredDifference', inputs, ['float32', 'int32']);
  const difference = recording.elementwise('Sub', [a, b], a.dtype);
  return recording.elementwise('Mul', [difference, difference], a.dtype);
};

/** log(1 + x) without losing small x: log(u) · x / (u − 1) with u = fl(1 + x) (W. Kahan; D. Goldberg 1991, theorem 4). */
const log1p: Kernel = (recording, inputs) => {
  const x = required(inputs, 'x');
  assertType('Log1p', x, 'float32');
  const one = recording.scalar(1, 'float32');
  const u = recording.elementwise('Add', [x, one], 'float32');
  const log = recording.elementwise('Log', [u], 'float32');
  const rounded = recording.elementwise('Sub', [u, one], 'float32');
  const corrected = recording.elementwise(
    'Mul',
    [log, recording.elementwise('Div', [x, rounded], 'float32')],
    'float32',
  );
  const isTiny = recording.elementwise('Equal', [rounded, recording.scalar(0, 'float32')], 'bool');
  const isInfinite = recording.elementwise('IsInf', [u], 'bool');
  return recording.select(isTiny, x, recording.select(isInfinite, log, corrected));
};

/** eˣ − 1 without losing small x: 2 · tanh(x/2) / (1 − tanh(x/2)) near zero. */
const expm1: Kernel = (recording, inputs) => {
  const x = required(inputs, 'x');
  assertType('Expm1', x, 'float32');
  const one = recording.scalar(1, 'float32');
  const half = recording.elementwise('Mul', [x, recording.scalar(0.5, 'float32')], 'float32');
  const tanh = recording.elementwise('Tanh', [half], 'float32');
  const doubled = recording.elementwise('Add', [tanh, tanh], 'float32');
  const near = recording.elementwise('Div', [doubled, recording.elementwise('Sub', [one, tanh], 'float32')], 'float32');
  const far = recording.elementwise('Sub', [recording.elementwise('Exp', [x], 'float32'), one], 'float32');
  const magnitude = recording.elementwise('Abs', [x], 'float32');
  const isSmall = recording.elementwise('Less', [magnitude, recording.scalar(0.5, 'float32')], 'bool');
  return recording.select(isSmall, near, far);
};

const cast: Kernel = (recording, inputs, attrs) => {
  const { dtype } = attrs as tf.CastAttrs;
  if (dtype !== 'float32' && dtype !== 'int32' && dtype !== 'bool') {
    throw new TypeError(`a recorded tensor cannot be cast to ${dtype}`);
  }
  return recording.cast(required(inputs, 'x'), dtype);
};

const addN: Kernel = (recording, inputs) =>
  Object.values(inputs).reduce((sum, next) => recording.elementwise('Add', [sum, next], sum.dtype));

const leakyRelu: Kernel = (recording, inputs, attrs) => {
  const x = required(inputs, 'x');
  assertType('LeakyRelu', x, 'float32');
  return recording.elementwise('LeakyRelu', [x], 'float32', { alpha: { float: (attrs as tf.LeakyReluAttrs).alpha } });
};

export const elementwiseKernels: Readonly<Record<string, Kernel>> = {
  IsInf: (recording, inputs) => recording.elementwise('IsInf', [required(inputs, 'x')], 'bool'),
  IsFinite: (recording, inputs) => {
    const x = required(inputs, 'x');
    const parts = ['IsNaN', 'IsInf'].map((op) => recording.elementwise(op, [x], 'bool'));
    return recording.elementwise('Not', [recording.elementwise('Or', parts, 'bool')], 'bool');
  },
  Tan: unary('Tan', 'Tan', 'float32'),
  Sinh: unary('Sinh', 'Sinh', 'float32'),
  Cosh: unary('Cosh', 'Cosh', 'float32'),
  Atanh: unary('Atanh', 'Atanh', 'float32'),
  Atan: unary('Atan', 'Atan', 'float32'),
  Asinh: unary('Asinh', 'Asinh', 'float32'),
  Asin: unary('Asin', 'Asin', 'float32'),
  Acosh: unary('Acosh', 'Acosh', 'float32'),
  Acos: unary('Acos', 'Acos', 'float32'),
  Abs: unary('Abs', 'Abs', 'float32', 'int32'),
  Add: add,
  AddN: addN,
  Cast: cast,
  Ceil: unary('Ceil', 'Ceil', 'float32'),
  ClipByValue: clipByValue,
  Cos: unary('Cos', 'Cos', 'float32'),
  Equal: comparison('Equal', 'Equal', 'float32', 'int32', 'bool'),
  Erf: unary('Erf', 'Erf', 'float32'),
  Exp: unary('Exp', 'Exp', 'float32'),
  Expm1: expm1,
  Floor: unary('Floor', 'Floor', 'float32'),
  FloorDiv: floorDiv,
  Greater: comparison('Greater', 'Greater', 'float32', 'int32'),
  GreaterEqual: comparison('GreaterEqual', 'GreaterOrEqual', 'float32', 'int32'),
  Identity: (_recording, inputs) => required(inputs, 'x'),
  IsNan: (recording, inputs) => recording.elementwise('IsNaN', [required(inputs, 'x')], 'bool'),
  LeakyRelu: leakyRelu,
  Less: comparison('Less', 'Less', 'float32', 'int32'),
  LessEqual: comparison('LessEqual', 'LessOrEqual', 'float32', 'int32'),
  Log: unary('Log', 'Log', 'float32'),
  Log1p: log1p,
  LogicalAnd: comparison('LogicalAnd', 'And', 'bool'),
  LogicalNot: unary('LogicalNot', 'Not', 'bool'),
  LogicalOr: comparison('LogicalOr', 'Or', 'bool'),
  Maximum: binary('Maximum', 'Max', 'float32', 'int32'),
  Minimum: binary('Minimum', 'Min', 'float32', 'int32'),
  Multiply: multiply,
  Neg: unary('Neg', 'Neg', 'float32', 'int32'),
  NotEqual: (recording, inputs) => {
    const { a, b } = operands('NotEqual', inputs, ['float32', 'int32', 'bool']);
    return recording.elementwise('Not', [recording.elementwise('Equal', [a, b], 'bool')], 'bool');
  },
  Pow: binary('Pow', 'Pow', 'float32', 'int32'),
  RealDiv: binary('RealDiv', 'Div', 'float32'),
  Reciprocal: unary('Reciprocal', 'Reciprocal', 'float32'),
  Relu: unary('Relu', 'Relu', 'float32', 'int32'),
  Round: unary('Round', 'Round', 'float32'),
  Rsqrt: rsqrt,
  Sigmoid: unary('Sigmoid', 'Sigmoid', 'float32'),
  Sign: unary('Sign', 'Sign', 'float32', 'int32'),
  Sin: unary('Sin', 'Sin', 'float32'),
  Softplus: unary('Softplus', 'Softplus', 'float32'),
  Sqrt: unary('Sqrt', 'Sqrt', 'float32'),
  Square: square,
  SquaredDifference: squaredDifference,
  Step: step,
  Sub: binary('Sub', 'Sub', 'float32', 'int32'),
  Tanh: unary('Tanh', 'Tanh', 'float32'),
};
