import fc from 'fast-check';
import { LogProbsReader } from './log-probs-reader';

const entry = (token: string, logprob: string, bytes = '32,97', alternatives = ''): string =>
  `{"token":${token},"logprob":${logprob},"bytes":[${bytes}],"top_logprobs":[${alternatives}]}`;
const logProbs = (...entries: string[]): string => `{"content":[${entries.join(',')}]}`;

/** The numbers, where all of the JSON was read. */
function read(json: string): readonly number[] | null {
  const reader = new LogProbsReader();
  const bytes = Buffer.from(`{"logprobs":${json},"finish_reason":null}`);
  const end = reader.read(bytes, 12);
  return end === bytes.length - ',"finish_reason":null}'.length ? [...reader.values] : null;
}

const parsed = (json: string): number[] =>
  (JSON.parse(json) as { content: { logprob: number }[] }).content.map(({ logprob }) => logprob);

describe('log-probs that are not parsed', () => {
  it.each([
    { json: logProbs(), why: 'none' },
    { json: logProbs(entry('" a"', '-0.25')), why: 'as vLLM writes them' },
    { json: logProbs(entry('" a"', '-0.25'), entry('"b"', '0'), entry('"ü🙂"', '-12')), why: 'several' },
    { json: logProbs(entry('"\\n"', '-0.25'), entry('"b"', '-1')), why: 'an escape' },
    { json: logProbs(entry('""', '-0.25', '')), why: 'no bytes' },
    { json: logProbs(entry('"a"', '-0.25', '0,10,100')), why: 'a byte of 0' },
    { json: logProbs(entry('"a"', '-0.25', '97', '{"token":"b","logprob":-3}')), why: 'alternatives' },
    { json: logProbs('{"logprob":-0.25,"token":"a"}'), why: 'another order' },
    { json: `{"refusal":null,${logProbs(entry('"a"', '-1')).slice(1)}`, why: 'another member before them' },
    { json: logProbs(entry('"a"', '-0.016304140910506248')), why: 'more digits than are exact' },
    { json: logProbs(entry('"a"', '-1.25e-3'), entry('"a"', '-5E2')), why: 'exponents' },
    { json: logProbs(entry('"a"', '-0.0')), why: 'minus zero' },
  ])('are those of the parsed JSON: $why', ({ json }) => {
    expect(read(json)).toEqual(parsed(json));
  });

  it('are the same doubles as those of JSON.parse', () =>
    fc.assert(
      fc.property(
        fc.oneof(
          fc.double({ noNaN: true, noDefaultInfinity: true }),
          fc.double({ min: -40, max: 0, noNaN: true }),
          fc.float({ min: -40, max: 0, noNaN: true }),
          fc.integer({ min: -(10 ** 9), max: 10 ** 9 }).map((number) => number / 10 ** 7),
        ),
        (number) => {
          const json = logProbs(entry('"a"', JSON.stringify(number)));
          expect(read(json)).toEqual(parsed(json));
        },
      ),
      { numRuns: 5_000 },
    ));

  it.each([
    { json: logProbs(entry('"a"', '-.25')), why: 'no digit before the point' },
    { json: logProbs(entry('"a"', '-0.')), why: 'none behind it' },
    { json: logProbs(entry('"a"', '-01')), why: 'a leading zero' },
    { json: logProbs(entry('"a"', 'null')), why: 'no number' },
    { json: logProbs(entry('"a"', '-1', '01')), why: 'a byte with a leading zero' },
    { json: logProbs(entry('"a"', '-1', '1,')), why: 'a comma too many' },
    { json: logProbs(entry('"a\u0001"', '-1')), why: 'a control character' },
    { json: logProbs(entry('"a"', '-1', '97', ']')), why: 'a bracket too many' },
    { json: logProbs(entry('"a"', '-1,"logprob":-2')), why: 'a number twice' },
    { json: logProbs('{"token":"a"}'), why: 'an entry without a number' },
    { json: `{"content":[],${logProbs().slice(1)}`, why: 'two lists' },
    { json: '{"content":null}', why: 'no list' },
    { json: '{}', why: 'nothing' },
    { json: logProbs(entry('"a"', '-1')).slice(0, -4), why: 'an end too early' },
  ])('are left to the parser: $why', ({ json }) => {
    expect(read(json)).toBeNull();
  });
});
