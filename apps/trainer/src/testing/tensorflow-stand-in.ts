import * as tf from '@tensorflow/tfjs';
import type { TFEOpAttr, TFJSBinding } from '@tensorflow/tfjs-node/dist/tfjs_binding';
import { TENSORFLOW_OPS, type StandInTensor } from './tensorflow-ops';

type Values = Float32Array | Int32Array | Uint8Array;

/** Numbers of the C interface: TF_DataType and TF_AttrType. */
const CODES = {
  TF_FLOAT: 1,
  TF_INT32: 3,
  TF_UINT8: 4,
  TF_STRING: 7,
  TF_COMPLEX64: 8,
  TF_INT64: 9,
  TF_BOOL: 10,
  TF_RESOURCE: 20,
  TF_ATTR_STRING: 0,
  TF_ATTR_INT: 1,
  TF_ATTR_FLOAT: 2,
  TF_ATTR_BOOL: 3,
  TF_ATTR_TYPE: 4,
  TF_ATTR_SHAPE: 5,
  TF_ATTR_RESOURCE: 9,
};
const DTYPES = new Map<number, 'float32' | 'int32' | 'bool'>([
  [CODES.TF_FLOAT, 'float32'],
  [CODES.TF_INT32, 'int32'],
  [CODES.TF_BOOL, 'bool'],
]);
const ATTRIBUTE_TYPES = { int: CODES.TF_ATTR_INT, bool: CODES.TF_ATTR_BOOL, type: CODES.TF_ATTR_TYPE };

/**
 * Stands in for tfjs-node's native module: holds tensors, checks each operation against TensorFlow's definition of it (name,
 * attributes and their types, number of inputs and outputs) and computes it with the kernels of tfjs' cpu backend.
 */
export class TensorFlowStandIn {
  /** Calls by operation. */
  readonly calls = new Map<string, number>();
  private readonly tensors = new Map<number, StandInTensor>();
  private nextId = 1;

  /** @param isGpu what it says of itself */
  constructor(private readonly isGpu = false) {}

  get binding(): TFJSBinding {
    return {
      ...CODES,
      TF_Version: 'stand-in',
      isUsingGpuDevice: () => this.isGpu,
      getNumOfTensors: () => this.tensors.size,
      createTensor: (shape: number[], dtype: number, values: Values) => this.add(shape, dtype, values),
      deleteTensor: (id: number) => this.delete(id),
      tensorDataSync: (id: number) => this.get(id).values.slice(),
      executeOp: (name: string, attributes: TFEOpAttr[], ids: number[], outputs: number) =>
        this.execute(name, attributes, ids, outputs),
    } as unknown as TFJSBinding;
  }

  private add(shape: readonly number[], dtype: number, values: Values | readonly number[]): number {
    const name = dtypeOf(dtype);
    // Indices of dimensions come as ordinary arrays.
    const typed = Array.isArray(values)
      ? tf.util.getTypedArrayFromDType(name, values.length)
      : (values as Values).slice();
    if (Array.isArray(values)) (typed as Int32Array).set(values);
    if (typed.length !== tf.util.sizeFromShape([...shape]))
      throw new Error(`${typed.length} values for [${shape.join()}]`);
    const id = this.nextId++;
    this.tensors.set(id, { shape: [...shape], dtype: name, values: typed as Values });
    return id;
  }

  private get(id: number): StandInTensor {
    const tensor = this.tensors.get(id);
    if (!tensor) throw new Error(`tensor ${id} is not there`);
    return tensor;
  }

  private delete(id: number): void {
    if (!this.tensors.delete(id)) throw new Error(`tensor ${id} is deleted twice`);
  }

  private execute(name: string, attributes: readonly TFEOpAttr[], ids: readonly number[], outputs: number) {
    const op = TENSORFLOW_OPS[name];
    if (!op) throw new Error(`TensorFlow's operation ${name} is not among those of a step`);
    this.calls.set(name, (this.calls.get(name) ?? 0) + 1);
    const inputs = ids.map((id) => this.get(id));
    const given = checkedAttributes(name, op.attributes, attributes);
    for (const [attribute, index] of Object.entries(op.typeOf ?? {})) {
      const dtype = inputs[index]?.dtype;
      if (given[attribute] !== undefined && dtypeOf(given[attribute] as number) !== dtype)
        throw new Error(`${name}: ${attribute} is ${String(given[attribute])}, its input is ${dtype}`);
    }
    const results = op.run(inputs, given);
    if (results.length !== outputs) throw new Error(`${name} has ${results.length} outputs, ${outputs} were asked for`);
    return results.map(({ shape, dtype, values }) => {
      const code = [...DTYPES].find(([, known]) => known === dtype)![0];
      return { id: this.add(shape, code, values), dtype: code, shape: [...shape] };
    });
  }
}

function checkedAttributes(
  name: string,
  defined: Readonly<Record<string, keyof typeof ATTRIBUTE_TYPES>>,
  attributes: readonly TFEOpAttr[],
): Record<string, unknown> {
  for (const attribute of attributes) {
    const type = defined[attribute.name];
    if (type === undefined) throw new Error(`${name} has no attribute ${attribute.name}`);
    if (attribute.type !== ATTRIBUTE_TYPES[type]) throw new Error(`${name}: attribute ${attribute.name} is no ${type}`);
  }
  return Object.fromEntries(attributes.map((attribute) => [attribute.name, attribute.value]));
}

function dtypeOf(code: number): 'float32' | 'int32' | 'bool' {
  const name = DTYPES.get(code);
  if (!name) throw new Error(`dtype ${code} is not among those of a step`);
  return name;
}
