import { ProtobufWriter } from './protobuf';

/** Element types of ONNX tensors that this writer knows, by the name onnxruntime uses for them. */
export type OnnxType = 'float32' | 'float64' | 'int32' | 'int64' | 'uint8' | 'bool';

/** One dimension: a fixed size, or the name of a size that is known only when the graph runs. */
export type OnnxDim = number | string;

/** A value inside one graph: an input, an initializer or the output of a node. It is the name in the file. */
export type OnnxValue = string & { readonly onnxValue: unique symbol };

/** Data of an initializer. `bool` is a Uint8Array of 0 and 1. */
export type OnnxData = Float32Array | Float64Array | Int32Array | BigInt64Array | Uint8Array;

/** A node's attribute. A plain number is an integer attribute; a float attribute says so. */
export type OnnxAttribute =
  | number
  | string
  | readonly number[]
  | { readonly float: number }
  | { readonly tensor: OnnxData; readonly dims: readonly number[] };

/** TensorProto.DataType */
const TYPE_CODE: Record<OnnxType, number> = { float32: 1, uint8: 2, int32: 6, int64: 7, bool: 9, float64: 11 };

interface GraphNode {
  readonly inputs: readonly (OnnxValue | null)[];
  readonly outputs: readonly OnnxValue[];
  readonly proto: ProtobufWriter;
}

/** Protobuf's own limit on one message. */
const MAX_MODEL_BYTES = 2 ** 31 - 1;

/**
 * Builds an ONNX model (`ModelProto`, IR version 8) node by node and serializes it. Nodes are written in the order of
 * the calls, which is a topological order because a value exists before it can be used. Only the builder's own
 * mistakes are checked (unknown values, data against dims, names used twice); onnxruntime checks operators and types.
 *
 * ```ts
 * const graph = new OnnxGraph();
 * const x = graph.input('x', 'float32', ['batch', 4]);
 * const w = graph.constant(new Float32Array(8), [4, 2]);
 * graph.output('y', graph.op('MatMul', [x, w]), 'float32', ['batch', 2]);
 * const session = await ort.InferenceSession.create(graph.toBytes());
 * ```
 */
export class OnnxGraph {
  private readonly nodes: GraphNode[] = [];
  private readonly initializers = new Map<OnnxValue, ProtobufWriter>();
  private readonly inputs: ProtobufWriter[] = [];
  private readonly outputs: ProtobufWriter[] = [];
  private readonly outputNames: OnnxValue[] = [];
  private readonly names = new Set<string>();
  /** Operator sets beside ONNX's own. */
  private readonly domains = new Set<string>();
  private readonly shapeConstants = new Map<string, OnnxValue>();
  private readonly name: string;
  private readonly opset: number;
  private unnamed = 0;

  constructor(options: { readonly name?: string; readonly opset?: number } = {}) {
    this.name = options.name ?? 'graph';
    this.opset = options.opset ?? 17;
  }

  /** Number of nodes written so far. */
  get nodeCount(): number {
    return this.nodes.length;
  }

  /** A graph input; fed by this name. */
  input(name: string, type: OnnxType, dims: readonly OnnxDim[]): OnnxValue {
    const value = this.claim(name);
    this.inputs.push(valueInfo(name, type, dims));
    return value;
  }

  /**
   * An initializer, stored in the model. The type follows from the array (Uint8Array is `bool`).
   * The data is copied when the model is serialized, so it must not change before `toBytes`.
   * @throws RangeError when the data does not fill the dims
   */
  constant(data: OnnxData, dims: readonly number[] = [data.length], name?: string): OnnxValue {
    const value = this.claim(name ?? this.freshName());
    this.initializers.set(value, tensorProto(value, data, dims));
    return value;
  }

  /** A float32 scalar. */
  float(value: number): OnnxValue {
    return this.constant(Float32Array.of(value), []);
  }

  /** A one-dimensional int64 constant (shapes, axes, split sizes). Equal ones are stored once. */
  int64(...values: number[]): OnnxValue {
    const key = values.join();
    const known = this.shapeConstants.get(key);
    if (known !== undefined) return known;
    const value = this.constant(
      BigInt64Array.from(values, (v) => BigInt(v)),
      [values.length],
    );
    this.shapeConstants.set(key, value);
    return value;
  }

  /** Casts to another element type. */
  cast(value: OnnxValue, to: OnnxType): OnnxValue {
    return this.op('Cast', [value], { to: TYPE_CODE[to] });
  }

  /**
   * A node with one output. `null` leaves an optional input out. An operator that is not ONNX's own has its domain before its name, as in
   * `com.microsoft.RotaryEmbedding`.
   */
  op(
    type: string,
    inputs: readonly (OnnxValue | null)[],
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
    outputName?: string,
  ): OnnxValue {
    const value = this.claim(outputName ?? this.freshName());
    this.node(type, inputs, [value], attributes);
    return value;
  }

  /** A node with several outputs (Split, TopK). */
  ops(
    type: string,
    inputs: readonly (OnnxValue | null)[],
    outputCount: number,
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
  ): OnnxValue[] {
    const values = Array.from({ length: outputCount }, () => this.claim(this.freshName()));
    this.node(type, inputs, values, attributes);
    return values;
  }

  /**
   * Makes a value an output of the graph under the given name. A value may be given out several times, and inputs and
   * constants may be given out too: an Identity node carries the name, except where a node already made it.
   */
  output(name: string, value: OnnxValue, type: OnnxType, dims: readonly OnnxDim[]): void {
    this.outputNames.push(value === name ? value : this.op('Identity', [value], {}, name));
    this.outputs.push(valueInfo(name, type, dims));
  }

  /**
   * The serialized model, without the nodes and initializers that no output depends on (onnxruntime would run them).
   * @throws RangeError when it would exceed protobuf's 2 GiB; pass weights as inputs then
   */
  toBytes(): Uint8Array {
    const { nodes, values } = this.reachable();
    const graph = new ProtobufWriter();
    for (const node of nodes) graph.message(1, node.proto);
    graph.string(2, this.name);
    for (const [name, initializer] of this.initializers) if (values.has(name)) graph.message(5, initializer);
    for (const input of this.inputs) graph.message(11, input);
    for (const output of this.outputs) graph.message(12, output);
    if (graph.byteLength > MAX_MODEL_BYTES - 64) {
      throw new RangeError(
        `ONNX model "${this.name}" has ${graph.byteLength} bytes, more than protobuf's 2 GiB; make its weights inputs`,
      );
    }
    const opset = (domain: string, version: number) => new ProtobufWriter().string(1, domain).varint(2, version);
    const model = new ProtobufWriter().varint(1, 8).string(2, 'hindcast').message(7, graph);
    for (const domain of this.domains) model.message(8, opset(domain, 1));
    return model.message(8, opset('', this.opset)).toBytes();
  }

  private node(
    type: string,
    inputs: readonly (OnnxValue | null)[],
    outputs: readonly OnnxValue[],
    attributes: Readonly<Record<string, OnnxAttribute>>,
  ): void {
    const node = new ProtobufWriter();
    for (const input of inputs) {
      if (input !== null && !this.names.has(input)) throw new Error(`${type}: value "${input}" is not of this graph`);
      node.string(1, input ?? '');
    }
    for (const output of outputs) node.string(2, output);
    const dot = type.lastIndexOf('.');
    node.string(4, type.slice(dot + 1));
    if (dot > 0) {
      node.string(7, type.slice(0, dot));
      this.domains.add(type.slice(0, dot));
    }
    for (const [name, attribute] of Object.entries(attributes)) node.message(5, attributeProto(name, attribute));
    this.nodes.push({ inputs, outputs, proto: node });
  }

  private reachable(): { nodes: readonly GraphNode[]; values: ReadonlySet<OnnxValue> } {
    const values = new Set(this.outputNames);
    const nodes: GraphNode[] = [];
    for (const node of this.nodes.toReversed()) {
      if (!node.outputs.some((output) => values.has(output))) continue;
      nodes.push(node);
      for (const input of node.inputs) if (input !== null) values.add(input);
    }
    return { nodes: nodes.reverse(), values };
  }

  private claim(name: string): OnnxValue {
    if (name === '') throw new Error('a value needs a name');
    if (this.names.has(name)) throw new Error(`value "${name}" is already defined`);
    this.names.add(name);
    return name as OnnxValue;
  }

  private freshName(): string {
    let name: string;
    do name = `v${this.unnamed++}`;
    while (this.names.has(name));
    return name;
  }
}

function typeOf(data: OnnxData): OnnxType {
  if (data instanceof Float32Array) return 'float32';
  if (data instanceof Float64Array) return 'float64';
  if (data instanceof Int32Array) return 'int32';
  return data instanceof BigInt64Array ? 'int64' : 'bool';
}

function tensorProto(name: string | null, data: OnnxData, dims: readonly number[]): ProtobufWriter {
  const size = dims.reduce((product, dim) => product * dim, 1);
  if (size !== data.length)
    throw new RangeError(`constant has ${data.length} elements, its dims [${dims.join()}] ${size}`);
  const proto = new ProtobufWriter();
  for (const dim of dims) proto.varint(1, dim);
  proto.varint(2, TYPE_CODE[typeOf(data)]);
  if (name !== null) proto.string(8, name);
  return proto.bytes(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}

/** AttributeProto; its field 20 is the type: 1 float, 2 int, 3 string, 4 tensor, 7 ints. */
function attributeProto(name: string, attribute: OnnxAttribute): ProtobufWriter {
  const proto = new ProtobufWriter().string(1, name);
  if (typeof attribute === 'number') return proto.varint(3, attribute).varint(20, 2);
  if (typeof attribute === 'string') return proto.string(4, attribute).varint(20, 3);
  if ('float' in attribute) return proto.float(2, attribute.float).varint(20, 1);
  if ('tensor' in attribute) return proto.message(5, tensorProto(null, attribute.tensor, attribute.dims)).varint(20, 4);
  for (const value of attribute) proto.varint(8, value);
  return proto.varint(20, 7);
}

function valueInfo(name: string, type: OnnxType, dims: readonly OnnxDim[]): ProtobufWriter {
  const shape = new ProtobufWriter();
  for (const dim of dims) {
    const proto = new ProtobufWriter();
    shape.message(1, typeof dim === 'number' ? proto.varint(1, dim) : proto.string(2, dim));
  }
  const tensor = new ProtobufWriter().varint(1, TYPE_CODE[type]).message(2, shape);
  return new ProtobufWriter().string(1, name).message(2, new ProtobufWriter().message(1, tensor));
}
