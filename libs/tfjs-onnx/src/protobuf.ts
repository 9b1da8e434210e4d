/**
 * The part of the protobuf wire format that ONNX and TensorBoard files need: varints, floats, doubles and length-delimited fields.
 * Chunks are kept as they come and copied once, in `toBytes`, so that weights are not copied per nesting level.
 */
export class ProtobufWriter {
  private readonly chunks: Uint8Array[] = [];
  private length = 0;

  /** Number of bytes written so far. */
  get byteLength(): number {
    return this.length;
  }

  /** A varint field (wire type 0): int32, int64, enum. Negative numbers are written as 64-bit two's complement. */
  varint(field: number, value: number): this {
    this.push(varint(field << 3));
    this.push(varint(value));
    return this;
  }

  /** A 32-bit float field (wire type 5). */
  float(field: number, value: number): this {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setFloat32(0, value, true);
    this.push(varint((field << 3) | 5));
    this.push(bytes);
    return this;
  }

  /** A 64-bit float field (wire type 1). */
  double(field: number, value: number): this {
    this.push(varint((field << 3) | 1));
    this.push(doubles([value]));
    return this;
  }

  /** A repeated 64-bit float field, packed: one length-delimited field. */
  packedDoubles(field: number, values: readonly number[]): this {
    return this.bytes(field, doubles(values));
  }

  /** A length-delimited field (wire type 2) with raw bytes. The bytes are read when `toBytes` is called. */
  bytes(field: number, value: Uint8Array): this {
    this.push(varint((field << 3) | 2));
    this.push(varint(value.byteLength));
    this.push(value);
    return this;
  }

  /** A length-delimited field with UTF-8 text. */
  string(field: number, value: string): this {
    return this.bytes(field, textEncoder.encode(value));
  }

  /** A length-delimited field with a nested message. */
  message(field: number, value: ProtobufWriter): this {
    this.push(varint((field << 3) | 2));
    this.push(varint(value.length));
    for (const chunk of value.chunks) this.push(chunk);
    return this;
  }

  toBytes(): Uint8Array {
    const result = new Uint8Array(this.length);
    let offset = 0;
    for (const chunk of this.chunks) {
      result.set(chunk, offset);
      offset += chunk.byteLength;
    }
    return result;
  }

  private push(chunk: Uint8Array): void {
    this.chunks.push(chunk);
    this.length += chunk.byteLength;
  }
}

const textEncoder = new TextEncoder();

function doubles(values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(8 * values.length);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => view.setFloat64(8 * i, value, true));
  return bytes;
}

function varint(value: number): Uint8Array {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not an integer that protobuf can hold`);
  if (value >= 0 && value < 128) return Uint8Array.of(value);
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
