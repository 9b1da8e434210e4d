import { HindcastError } from '@hindcast/contracts';
import { checkDepth } from './body-depth';
import { checkValues, MAX_VALUES } from './body-values';

const isTaken = (json: string): boolean => {
  try {
    checkValues(Buffer.from(json));
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'body-too-large' });
    return false;
  }
};
/** A list of as many zeros. */
const zeros = (values: number): string => `[${'0,'.repeat(values - 1)}0]`;

describe('checkValues', () => {
  const many = ',{['.repeat(MAX_VALUES);
  it.each([
    { why: 'as many as there may be', json: zeros(MAX_VALUES), taken: true },
    { why: 'one more', json: zeros(MAX_VALUES + 1), taken: false },
    { why: 'empty objects', json: `[${'{},'.repeat(MAX_VALUES)}{}]`, taken: false },
    { why: 'lists in lists', json: '['.repeat(MAX_VALUES + 1), taken: false },
    { why: 'a long text is one value', json: `["${many}"]`, taken: true },
    { why: 'a quote in a text does not end it', json: `["\\"${many}"]`, taken: true },
    { why: 'nor does one far inside', json: `["${'x'.repeat(100)}\\"${many}"]`, taken: true },
    { why: 'nor one after a backslash that is text', json: `["${'x'.repeat(100)}\\\\\\"${many}"]`, taken: true },
    { why: 'a text that ends in a backslash', json: `["\\\\"${many}`, taken: false },
    { why: 'a long text that ends in a backslash', json: `["${'x'.repeat(100)}\\\\"${many}`, taken: false },
    { why: 'a backslash where the near search ends', json: `["${'x'.repeat(62)}\\"${many}"]`, taken: true },
    { why: 'two of them there', json: `["${'x'.repeat(62)}\\\\"${many}`, taken: false },
    { why: 'a text without an end', json: `["${many}`, taken: true },
    { why: 'a text of nothing but quotes', json: `["${'\\"'.repeat(2 * MAX_VALUES)}"]`, taken: true },
  ])('$why', ({ json, taken }) => expect(isTaken(json)).toBe(taken));
});

describe('checkDepth', () => {
  const nested = (depth: number): unknown => {
    let value: unknown = 0;
    for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [1, value] : { a: 1, b: value };
    return value;
  };
  it.each([
    { depth: 256, taken: true },
    { depth: 257, taken: false },
    { depth: 100_000, taken: false },
  ])('$depth levels', ({ depth, taken }) => {
    const check = (): void => checkDepth(nested(depth));
    if (taken) expect(check).not.toThrow();
    else expect(check).toThrow(HindcastError);
  });

  it('holds one path, not a level', () => {
    let looked = 0;
    const tooDeep = nested(257);
    const body = [
      tooDeep,
      ...Array.from({ length: 10 }, () => ({
        get a() {
          return (looked += 1);
        },
      })),
    ];
    expect(() => checkDepth(body)).toThrow(HindcastError);
    expect(looked).toBe(0);
  });
});
