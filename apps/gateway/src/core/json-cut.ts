import { isName } from './json-scan';
import { stringEnd } from './json-string';

/** Whether a member goes, by the bytes of its value: those from `start` to `end`. */
export type CutRule = (bytes: Uint8Array, start: number, end: number) => boolean;

/** A member that goes, or whose value, an object or an array of objects, is looked into. */
export interface CutMember {
  readonly name: string;
  readonly cut?: CutRule;
  readonly into?: CutPlan;
  /** Steps over the value that begins there; −1 leaves that to others. */
  readonly step?: (start: number) => number;
}

/** So many names are compared one by one; a client's request may have any number of them. */
const FEW_NAMES = 32;

/** What to do with the members of an object; those that it does not name stay as they are. */
export class CutPlan {
  private readonly names: readonly Uint8Array[];
  private byName: ReadonlyMap<string, CutMember> | null = null;

  constructor(private readonly members: readonly CutMember[]) {
    this.names = members.map(({ name }) => Buffer.from(name));
  }

  get isEmpty(): boolean {
    return this.members.length === 0;
  }

  /** The member whose name is at these bytes. */
  member(bytes: Uint8Array, start: number, end: number): CutMember | null {
    if (this.names.length > FEW_NAMES) return this.named(Buffer.from(bytes.subarray(start, end)).toString());
    for (let index = 0; index < this.names.length; index++)
      if (isName(bytes, start, end, this.names[index]!)) return this.members[index]!;
    return null;
  }

  named(name: string): CutMember | null {
    this.byName ??= new Map(this.members.map((member) => [member.name, member]));
    return this.byName.get(name) ?? null;
  }
}

/**
 * Places of the members to cut in JSON, as pairs of start and end in ascending order; a member goes with one comma. What is not
 * looked into is skipped, not checked: the JSON has been parsed before.
 *
 * @param from where the JSON begins; it goes to `to`, but for white space
 * @throws SyntaxError when it is not JSON on the levels that are looked at
 */
export function cutPlaces(bytes: Uint8Array, from: number, to: number, plan: CutPlan): readonly number[] {
  const walk = new Walk(bytes, from, to);
  walk.value(plan);
  walk.end();
  return walk.places;
}

/** The bytes without the places; the same bytes when there are none. */
export function withoutPlaces(bytes: Uint8Array, places: readonly number[]): Uint8Array {
  if (places.length === 0) return bytes;
  let length = bytes.length;
  for (let i = 0; i < places.length; i += 2) length -= places[i + 1]! - places[i]!;
  const out = Buffer.allocUnsafe(length);
  let kept = 0;
  let filled = 0;
  for (let i = 0; i <= places.length; i += 2) {
    const end = places[i] ?? bytes.length;
    if (end - kept > SHORT_COPY) {
      out.set(bytes.subarray(kept, end), filled);
      filled += end - kept;
    } else while (kept < end) out[filled++] = bytes[kept++]!;
    kept = places[i + 1] ?? bytes.length;
  }
  return out;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Up to so many bytes are copied one by one, which takes less than a view of them. */
const SHORT_COPY = 64;
/** Arrays of numbers from this length on are skipped at once. */
const LONG_ARRAY = 64;

/** Of an array of numbers its end, of any other what stands in it, or of the JSON the end. */
const endsNumbers = (byte: number | undefined): boolean =>
  byte === CLOSE_ARRAY || byte === QUOTE || byte === OPEN_OBJECT || byte === OPEN_ARRAY || byte === undefined;

class Walk {
  readonly places: number[] = [];

  /** The search of a Buffer takes a twentieth of that of a Uint8Array. */
  private readonly bytes: Buffer;

  constructor(
    bytes: Uint8Array,
    private position: number,
    private readonly to: number,
  ) {
    this.bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  end(): void {
    this.skipSpace();
    if (this.position !== this.to) this.fail();
  }

  value(plan: CutPlan): void {
    this.skipSpace();
    const first = this.bytes[this.position];
    if (first === OPEN_OBJECT) this.object(plan);
    else if (first === OPEN_ARRAY) this.array(plan);
    else this.skipValue();
  }

  private array(plan: CutPlan): void {
    this.position++;
    this.skipSpace();
    if (this.bytes[this.position] === CLOSE_ARRAY) return void this.position++;
    for (;;) {
      this.value(plan);
      this.skipSpace();
      const separator = this.bytes[this.position++];
      if (separator === CLOSE_ARRAY) return;
      if (separator !== COMMA) this.fail();
    }
  }

  private object(plan: CutPlan): void {
    this.position++;
    this.skipSpace();
    if (this.bytes[this.position] === CLOSE_OBJECT) return void this.position++;
    let hasMember = false;
    let previousEnd = this.position;
    /** Where the members before the first one that stays begin. */
    let leading = -1;
    for (;;) {
      const start = this.position;
      const before = this.places.length;
      const isCut = this.member(plan);
      const end = this.position;
      if (isCut) {
        if (this.places.length > before) this.places.length = before;
        if (hasMember) this.places.push(previousEnd, end);
        else if (leading < 0) leading = start;
      } else {
        if (leading >= 0) this.places.splice(before, 0, leading, start);
        leading = -1;
        hasMember = true;
      }
      previousEnd = end;
      this.skipSpace();
      const separator = this.bytes[this.position++];
      if (separator === CLOSE_OBJECT) break;
      if (separator !== COMMA) this.fail();
      this.skipSpace();
    }
    if (leading >= 0) this.places.push(leading, previousEnd);
  }

  private member(plan: CutPlan): boolean {
    const { bytes } = this;
    if (bytes[this.position] !== QUOTE) this.fail();
    const nameStart = this.position + 1;
    this.position = this.stringEnd(this.position);
    const member = this.named(plan, nameStart, this.position - 1);
    this.skipSpace();
    if (bytes[this.position++] !== COLON) this.fail();
    this.skipSpace();
    const valueStart = this.position;
    if (member?.into) this.value(member.into);
    else if (!member?.step || !this.stepBy(member.step)) this.skipValue();
    return member?.cut?.(bytes, valueStart, this.position) ?? false;
  }

  private stepBy(step: (start: number) => number): boolean {
    const end = step(this.position);
    if (end >= 0) this.position = end;
    return end >= 0;
  }

  private named(plan: CutPlan, start: number, end: number): CutMember | null {
    for (let position = start; position < end; position++)
      if (this.bytes[position] === BACKSLASH)
        return plan.named(JSON.parse(Buffer.from(this.bytes.subarray(start - 1, end + 1)).toString()) as string);
    return plan.member(this.bytes, start, end);
  }

  private skipValue(): void {
    const { bytes, to } = this;
    let { position } = this;
    const first = bytes[position];
    if (first === QUOTE) {
      this.position = this.stringEnd(position);
      return;
    }
    if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return this.skipScalar();
    if (first === OPEN_ARRAY && this.skipNumbers()) return;
    for (let depth = 0; position < to; position++) {
      const byte = bytes[position]!;
      if (byte === QUOTE) position = this.stringEnd(position) - 1;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++;
      else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && --depth === 0) {
        this.position = position + 1;
        return;
      }
    }
    this.fail();
  }

  /** Token ids of a long prompt are most of an answer's bytes. */
  private skipNumbers(): boolean {
    const { bytes, position } = this;
    for (let index = position + 1; index < position + LONG_ARRAY; index++) if (endsNumbers(bytes[index])) return false;
    const end = bytes.indexOf(CLOSE_ARRAY, position);
    if (end < 0 || end >= this.to) return false;
    const inside = bytes.subarray(position + 1, end);
    for (const other of [QUOTE, OPEN_ARRAY, OPEN_OBJECT]) if (inside.includes(other)) return false;
    this.position = end + 1;
    return true;
  }

  private stringEnd(start: number): number {
    const end = stringEnd(this.bytes, start, this.to);
    return end < 0 ? this.fail() : end;
  }

  private skipScalar(): void {
    const { bytes, to } = this;
    const start = this.position;
    let position = start;
    for (; position < to; position++) {
      const byte = bytes[position]!;
      if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY || byte <= 0x20) break;
    }
    if (position === start) this.fail();
    this.position = position;
  }

  private skipSpace(): void {
    const { bytes, to } = this;
    while (this.position < to) {
      const byte = bytes[this.position];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.position++;
    }
  }

  private fail(): never {
    throw new SyntaxError(`not JSON at ${this.position}`);
  }
}
