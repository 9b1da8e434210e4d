/** A protobuf message as a test reads it: written against the wire format's own description, not against our writer. */
export interface ProtobufMessage {
  double(field: number): number;
  float(field: number): number;
  varint(field: number): bigint;
  text(field: number): string;
  messages(field: number): ProtobufMessage[];
  packedDoubles(field: number): number[];
}

/** @throws RangeError when a field that is asked for is not there exactly once, or the bytes are no message */
export function messageOf(bytes: Uint8Array): ProtobufMessage {
  const buffer = Buffer.from(bytes);
  const fields: { number: number; start: number; end: number; varint: bigint }[] = [];
  let at = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(buffer.readUInt8(at++));
      value |= (byte & 0x7fn) << shift;
      if (byte < 0x80n) return value;
    }
  };
  while (at < buffer.length) {
    const key = Number(readVarint());
    const number = key >> 3;
    const size = { 0: () => 0, 1: () => 8, 2: () => Number(readVarint()), 5: () => 4 }[key & 7];
    if (!size) throw new RangeError(`wire type ${key & 7}`);
    const length = size();
    const varint = (key & 7) === 0 ? readVarint() : 0n;
    if (at + length > buffer.length) throw new RangeError(`field ${number} ends beyond the message`);
    fields.push({ number, start: at, end: at + length, varint });
    at += length;
  }
  const all = (field: number) => fields.filter(({ number }) => number === field);
  const one = (field: number) => {
    const found = all(field);
    if (found.length !== 1) throw new RangeError(`field ${field} is there ${found.length} times`);
    return found[0]!;
  };
  return {
    double: (field) => buffer.readDoubleLE(one(field).start),
    float: (field) => buffer.readFloatLE(one(field).start),
    varint: (field) => one(field).varint,
    text: (field) => buffer.toString('utf8', one(field).start, one(field).end),
    messages: (field) => all(field).map(({ start, end }) => messageOf(buffer.subarray(start, end))),
    packedDoubles: (field) => {
      const { start, end } = one(field);
      return Array.from({ length: (end - start) / 8 }, (_, i) => buffer.readDoubleLE(start + 8 * i));
    },
  };
}
