/** Whether a member goes, by the text of its value: `text.slice(start, end)`. */
export type CutRule = (text: string, start: number, end: number) => boolean;

/** Which members of an object go, by name, and in which of the others, or in the objects of which arrays, to go on looking. */
export interface CutPlan {
  readonly cut: ReadonlyMap<string, CutRule>;
  readonly into: ReadonlyMap<string, CutPlan>;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
/** Arrays of numbers from this length on are skipped at once. */
const LONG_ARRAY = 64;

/**
 * Places of the members to cut in a JSON text, as pairs of start and end in ascending order; a member goes with one comma. What is
 * not looked into is skipped, not checked: the text has been parsed before.
 *
 * @param from where the JSON begins; it goes to `to`, but for white space
 * @throws SyntaxError when the text is not JSON on the levels that are looked at
 */
export function cutPlaces(text: string, from: number, to: number, plan: CutPlan): readonly number[] {
  const walk = new Walk(text, from, to);
  walk.value(plan);
  walk.end();
  return walk.places;
}

/** The text without the places. */
export function withoutPlaces(text: string, places: readonly number[]): string {
  let out = '';
  let kept = 0;
  for (let i = 0; i < places.length; i += 2) {
    out += text.slice(kept, places[i]);
    kept = places[i + 1]!;
  }
  return out + text.slice(kept);
}

class Walk {
  readonly places: number[] = [];

  constructor(
    private readonly text: string,
    private position: number,
    private readonly to: number,
  ) {}

  end(): void {
    this.skipSpace();
    if (this.position !== this.to) this.fail();
  }

  value(plan: CutPlan): void {
    this.skipSpace();
    const first = this.text.charCodeAt(this.position);
    if (first === OPEN_OBJECT) this.object(plan);
    else if (first === OPEN_ARRAY) this.array(plan);
    else this.skipValue();
  }

  private array(plan: CutPlan): void {
    this.position++;
    this.skipSpace();
    if (this.text.charCodeAt(this.position) === CLOSE_ARRAY) return void this.position++;
    for (;;) {
      this.value(plan);
      this.skipSpace();
      const separator = this.text.charCodeAt(this.position++);
      if (separator === CLOSE_ARRAY) return;
      if (separator !== COMMA) this.fail();
    }
  }

  private object(plan: CutPlan): void {
    this.position++;
    this.skipSpace();
    if (this.text.charCodeAt(this.position) === CLOSE_OBJECT) return void this.position++;
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
        this.places.length = before;
        if (hasMember) this.places.push(previousEnd, end);
        else if (leading < 0) leading = start;
      } else {
        if (leading >= 0) this.places.splice(before, 0, leading, start);
        leading = -1;
        hasMember = true;
      }
      previousEnd = end;
      this.skipSpace();
      const separator = this.text.charCodeAt(this.position++);
      if (separator === CLOSE_OBJECT) break;
      if (separator !== COMMA) this.fail();
      this.skipSpace();
    }
    if (leading >= 0) this.places.push(leading, previousEnd);
  }

  private member(plan: CutPlan): boolean {
    const { text } = this;
    if (text.charCodeAt(this.position) !== QUOTE) this.fail();
    const start = this.position;
    this.skipString();
    const raw = text.slice(start + 1, this.position - 1);
    const name = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
    this.skipSpace();
    if (text.charCodeAt(this.position++) !== COLON) this.fail();
    this.skipSpace();
    const valueStart = this.position;
    const inner = plan.into.get(name);
    if (inner) this.value(inner);
    else this.skipValue();
    return plan.cut.get(name)?.(text, valueStart, this.position) ?? false;
  }

  private skipValue(): void {
    const first = this.text.charCodeAt(this.position);
    if (first === QUOTE) return this.skipString();
    if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return this.skipScalar();
    if (first === OPEN_ARRAY && this.skipNumbers()) return;
    const { text, to } = this;
    for (let depth = 0; this.position < to;) {
      const code = text.charCodeAt(this.position);
      if (code === QUOTE) {
        this.skipString();
        continue;
      }
      this.position++;
      if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++;
      else if ((code === CLOSE_OBJECT || code === CLOSE_ARRAY) && --depth === 0) return;
    }
    this.fail();
  }

  /** Token ids of a long prompt are most of an answer's bytes. */
  private skipNumbers(): boolean {
    const { text, position } = this;
    const end = text.indexOf(']', position);
    if (end - position < LONG_ARRAY) return false;
    for (const other of ['"', '[', '{']) {
      const found = text.indexOf(other, position + 1);
      if (found >= 0 && found < end) return false;
    }
    this.position = end + 1;
    return true;
  }

  private skipString(): void {
    const { text, to } = this;
    let position = this.position + 1;
    for (;;) {
      if (position >= to) this.fail();
      const code = text.charCodeAt(position);
      if (code === QUOTE) break;
      position += code === BACKSLASH ? 2 : 1;
    }
    this.position = position + 1;
  }

  private skipScalar(): void {
    const { text, to } = this;
    const start = this.position;
    let position = start;
    for (; position < to; position++) {
      const code = text.charCodeAt(position);
      if (code === COMMA || code === CLOSE_OBJECT || code === CLOSE_ARRAY || code <= 0x20) break;
    }
    if (position === start) this.fail();
    this.position = position;
  }

  private skipSpace(): void {
    const { text, to } = this;
    while (this.position < to) {
      const code = text.charCodeAt(this.position);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.position++;
    }
  }

  private fail(): never {
    throw new SyntaxError(`not JSON at ${this.position}`);
  }
}
