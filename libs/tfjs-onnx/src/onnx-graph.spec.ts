import * as ort from 'onnxruntime-node';
import { OnnxGraph, type OnnxValue } from './onnx-graph';

async function runGraph(graph: OnnxGraph, feeds: Record<string, ort.Tensor>): Promise<Record<string, ort.Tensor>> {
  const session = await ort.InferenceSession.create(graph.toBytes(), { intraOpNumThreads: 1, interOpNumThreads: 1 });
  try {
    return (await session.run(feeds)) as Record<string, ort.Tensor>;
  } finally {
    await session.release();
  }
}

describe('OnnxGraph', () => {
  it('writes a model with dynamic dims that onnxruntime runs for several sizes', async () => {
    const graph = new OnnxGraph({ name: 'affine' });
    const x = graph.input('x', 'float32', ['rows', 2]);
    const weight = graph.constant(Float32Array.of(1, 2, 3, 4, 5, 6), [2, 3], 'weight');
    graph.output('y', graph.op('Add', [graph.op('MatMul', [x, weight]), graph.float(0.5)]), 'float32', ['rows', 3]);
    const session = await ort.InferenceSession.create(graph.toBytes());
    for (const rows of [1, 3]) {
      const { y } = await session.run({ x: new ort.Tensor('float32', new Float32Array(rows * 2).fill(1), [rows, 2]) });
      expect(y?.dims).toEqual([rows, 3]);
      expect(Array.from(y?.data as Float32Array).slice(0, 3)).toEqual([5.5, 7.5, 9.5]);
    }
    await session.release();
  });

  it('writes every kind of attribute, several outputs, optional inputs and int64 constants', async () => {
    const graph = new OnnxGraph();
    const x = graph.input('x', 'float32', [4]);
    const [left, right] = graph.ops('Split', [x, graph.int64(1, 3)], 2, { axis: 0 }) as [OnnxValue, OnnxValue];
    graph.output('left', graph.op('LeakyRelu', [left], { alpha: { float: 0.25 } }), 'float32', [1]);
    graph.output('clipped', graph.op('Clip', [right, null, graph.float(3)]), 'float32', [3]);
    graph.output('sum', graph.op('ReduceMean', [x], { axes: [-1], keepdims: 1 }), 'float32', [1]);
    const fill = graph.op('ConstantOfShape', [graph.int64(2)], { value: { tensor: Int32Array.of(7), dims: [1] } });
    graph.output('fill', fill, 'int32', [2]);
    graph.output('same', graph.op('Equal', [x, x]), 'bool', [4]);
    const result = await runGraph(graph, { x: new ort.Tensor('float32', Float32Array.of(-4, 2, 3, 7), [4]) });
    expect(Array.from(result['left']?.data as Float32Array)).toEqual([-1]);
    expect(Array.from(result['clipped']?.data as Float32Array)).toEqual([2, 3, 3]);
    expect(Array.from(result['sum']?.data as Float32Array)).toEqual([2]);
    expect(Array.from(result['fill']?.data as Int32Array)).toEqual([7, 7]);
    expect(Array.from(result['same']?.data as Uint8Array)).toEqual([1, 1, 1, 1]);
  });

  it('gives out inputs, constants and one value under several names', async () => {
    const graph = new OnnxGraph();
    const x = graph.input('x', 'float32', [1]);
    graph.output('first', x, 'float32', [1]);
    graph.output('second', x, 'float32', [1]);
    graph.output('constant', graph.constant(Int32Array.of(9)), 'int32', [1]);
    const result = await runGraph(graph, { x: new ort.Tensor('float32', Float32Array.of(3), [1]) });
    expect([result['first']?.data[0], result['second']?.data[0], result['constant']?.data[0]]).toEqual([3, 3, 9]);
  });

  it('leaves out what no output needs', () => {
    const model = (isCluttered: boolean): Uint8Array => {
      const graph = new OnnxGraph();
      const x = graph.input('x', 'float32', [2]);
      const y = graph.op('Neg', [x], {}, 'negated');
      if (isCluttered) graph.op('Add', [graph.op('Exp', [y]), graph.constant(new Float32Array(1000), [500, 2])]);
      graph.output('y', y, 'float32', [2]);
      return graph.toBytes();
    };
    expect(model(true)).toEqual(model(false));
  });

  it('stores equal int64 constants once', () => {
    const graph = new OnnxGraph();
    expect(graph.int64(1, 2)).toBe(graph.int64(1, 2));
    expect(graph.int64(1, 2)).not.toBe(graph.int64(12));
  });

  it('refuses data that does not fill its dims, names used twice, foreign values and fractional attributes', () => {
    const graph = new OnnxGraph();
    const x = graph.input('x', 'float32', [1]);
    expect(() => graph.constant(new Float32Array(3), [2, 2])).toThrow('constant has 3 elements, its dims [2,2] 4');
    expect(() => graph.input('x', 'float32', [1])).toThrow('value "x" is already defined');
    expect(() => new OnnxGraph().op('Neg', [x])).toThrow('Neg: value "x" is not of this graph');
    expect(() => graph.op('Softmax', [x], { axis: 0.5 })).toThrow('not an integer');
  });
});
