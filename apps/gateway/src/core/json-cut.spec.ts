import fc from 'fast-check';
import { CutPlan, cutPlaces, withoutPlaces } from './json-cut';

const always = (): boolean => true;

/** `cut` goes, `into` is looked into. */
interface Rules {
  readonly cut: readonly string[];
  readonly into?: Readonly<Record<string, Rules>>;
}
const planOf = ({ cut, into = {} }: Rules): CutPlan =>
  new CutPlan(
    [...new Set([...cut, ...Object.keys(into)])].map((name) => ({
      name,
      ...(cut.includes(name) && { cut: always }),
      ...(into[name] && { into: planOf(into[name]) }),
    })),
  );
function cut(text: string, rules: Rules): string {
  const bytes = Buffer.from(text);
  return Buffer.from(withoutPlaces(bytes, cutPlaces(bytes, 0, bytes.length, planOf(rules)))).toString();
}

/** Cuts and looks into two names on three levels. */
const deep: Rules = { cut: ['cut'], into: { in: { cut: ['cut'], into: { in: { cut: ['cut', 'in'] } } } } };

function remove(value: unknown, rules: Rules): unknown {
  if (Array.isArray(value)) return value.map((entry) => remove(entry, rules));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !rules.cut.includes(name));
  return Object.fromEntries(
    kept.map(([name, inner]) => {
      const next = rules.into && Object.hasOwn(rules.into, name) ? rules.into[name] : undefined;
      return [name, next ? remove(inner, next) : inner];
    }),
  );
}

describe('cutPlaces', () => {
  it.each([
    { text: '{"a":1,"b":2,"c":3}', names: ['a'], out: '{"b":2,"c":3}' },
    { text: '{"a":1,"b":2,"c":3}', names: ['b'], out: '{"a":1,"c":3}' },
    { text: '{"a":1,"b":2,"c":3}', names: ['c'], out: '{"a":1,"b":2}' },
    { text: '{"a":1,"b":2,"c":3}', names: ['a', 'b'], out: '{"c":3}' },
    { text: '{"a":1,"b":2,"c":3}', names: ['a', 'b', 'c'], out: '{}' },
    { text: '{ "a" : 1 , "b" : [ 1.0e5 , "x" ] }', names: ['a'], out: '{ "b" : [ 1.0e5 , "x" ] }' },
    { text: '{ "a" : 1 , "b" : 2 }', names: ['b'], out: '{ "a" : 1 }' },
    { text: '{"a":{"a":1}}', names: ['x'], out: '{"a":{"a":1}}' },
    { text: '{"b":{"a":1}}', names: ['a'], out: '{"b":{"a":1}}' },
    { text: '{"a":1}', names: ['a'], out: '{}' },
    { text: '{}', names: ['a'], out: '{}' },
    { text: '[{"a":[]},{"a":{}}]', names: ['a'], out: '[{},{}]' },
    { text: '{"k":"}\\"a\\":1,","a":"\\\\"}', names: ['a'], out: '{"k":"}\\"a\\":1,"}' },
    { text: '{"\\u0061":1,"b":2}', names: ['a'], out: '{"b":2}' },
    { text: `{"a":[${'1,'.repeat(99)}1],"b":[${'2, '.repeat(99)}"]"],"c":3}`, names: ['a', 'b'], out: '{"c":3}' },
    { text: `{"a":[${'1,'.repeat(99)}[1]],"b":[${'2,'.repeat(99)}{}],"c":3}`, names: ['a', 'b'], out: '{"c":3}' },
  ])('$names of $text', ({ text, names, out }) => {
    expect(cut(text, { cut: names })).toBe(out);
  });

  it('means the same as deleting the members, and leaves every other byte', () => {
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.string({ unit: 'grapheme' }),
        fc.array(fc.integer(), { maxLength: 40 }),
        fc.boolean(),
        fc.constant(null),
        tie('list'),
        tie('object'),
        tie('object'),
      ),
      list: fc.array(tie('tree'), { maxLength: 4 }),
      object: fc.dictionary(
        fc.oneof(
          fc.constantFrom('cut', 'in', 'keep'),
          fc.string().filter((key) => key !== '__proto__'),
        ),
        tie('tree'),
        { maxKeys: 5 },
      ),
    }));
    fc.assert(
      fc.property(tree, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(JSON.parse(cut(text, deep))).toEqual(remove(value, deep));
        expect(cut(text, { cut: [] })).toBe(text);
        if (indent === undefined) expect(cut(text, deep)).toBe(JSON.stringify(remove(value, deep)));
      }),
      { numRuns: 500 },
    );
  });

  it.each(['{"a":1', '{"a" 1}', '[1,2', '{"a":1}x', '{"a":1,}', '{"a":"', '{"a":{"b":[1}', ''])(
    'refuses %j',
    (text) => {
      expect(() => cut(text, deep)).toThrow(SyntaxError);
    },
  );
});

// Each name compared with each other would take minutes.
it('finds very many names', () => {
  const names = Array.from({ length: 200_000 }, (_, index) => `name-${index}`);
  const text = JSON.stringify(Object.fromEntries([...names, 'kept'].map((name) => [name, [0]])));
  const plan = new CutPlan(names.map((name) => ({ name, cut: always })));
  const bytes = Buffer.from(text);
  expect(Buffer.from(withoutPlaces(bytes, cutPlaces(bytes, 0, bytes.length, plan))).toString()).toBe('{"kept":[0]}');
});
