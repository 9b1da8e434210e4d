import fc from 'fast-check';
import { wholeTemplate } from '../bench/engine-bytes';
import { readCompletion } from './answer';
import { stripFields, type AskedFields } from './strip-fields';
import { readTokenAnswer } from './token-answer';
import { readWhole } from './whole-answer';

const asked: AskedFields = { tokenIds: true, logProbs: true, usage: false };
const entry = '{"token":" a","logprob":-0.25,"bytes":[32,97],"top_logprobs":[]}';
const message = '"index":0,"message":{"role":"assistant","content":"Zü\\"r\\u00efch 🙂"}';
const scored = `"logprobs":{"content":[${entry}]}`;
const members = `${message},${scored},"finish_reason":"stop","token_ids":[7]`;
const usage = '"usage":{"prompt_tokens":3,"total_tokens":4,"completion_tokens":1,"prompt_tokens_details":null}';
const answer = (choices: string, after = `${usage},"prompt_token_ids":[1,20,300]`): string =>
  `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"seed","choices":[${choices}],${after}}`;
const plain = answer(`{${members}}`);

/** What it gives when all of it is parsed; ids of either kind of array are the same ids. */
function parsed(json: string, expected = 1): unknown {
  return told(readCompletion(JSON.parse(json), expected), stripFields(Buffer.from(json), asked, false));
}

function read(json: string, expected = 1): unknown {
  const { answers, stripped, bytes } = readWhole(Buffer.from(json), expected, asked);
  return told(answers, stripped ?? stripFields(bytes, asked, false));
}

const told = (answers: ReturnType<typeof readCompletion>, written: Uint8Array): unknown => [
  answers?.map((each) => ({ ...each, promptIds: each.promptIds && [...each.promptIds] })),
  Buffer.from(written).toString(),
];

const isRead = (json: string, fields = asked): boolean => readTokenAnswer(Buffer.from(json), fields) !== null;

describe('a whole answer whose numbers are read by themselves', () => {
  it.each([
    { json: plain, why: 'as vLLM writes it' },
    { json: answer(`{${members}}`, `"prompt_token_ids":[5],${usage}`), why: 'another order' },
    { json: plain.replace(`[${entry}]`, `[${entry},${entry}]`).replace('[7]', '[7,8]'), why: 'two tokens' },
    { json: plain.replace(`[${entry}]`, '[]').replace('[7]', '[]'), why: 'no token' },
    { json: plain.replace('-0.25', '-1.25e-3'), why: 'a number with an exponent' },
    { json: plain.replace('-0.25', '-0.016304140910506248'), why: 'a number with all digits of a double' },
    { json: plain.replace('"top_logprobs":[]', '"top_logprobs":[{"token":"b","logprob":-3}]'), why: 'alternatives' },
    { json: plain.replace(scored, `${scored.slice(0, -1)},"refusal":null}`), why: 'log-probs of a refusal' },
    {
      json: plain.replace('"finish_reason"', '"matched":{"deep":[[{"a":"]}"}]]},"finish_reason"'),
      why: 'other members',
    },
    { json: plain.replace('"id":', '"__proto__":{"choices":[]},"id":'), why: 'a member of any name' },
  ])('is what all of it parsed says: $why', ({ json }) => {
    expect(isRead(json)).toBe(true);
    expect(read(json)).toEqual(parsed(json));
  });

  it.each([
    { json: `${plain}\n`, why: 'white space behind it' },
    { json: plain.replace('"choices":[', '"choices": ['), why: 'white space within' },
    { json: answer(`{${members}},{${members.replace('"index":0', '"index":1')}}`), why: 'two choices' },
    { json: plain.replace(scored, '"logprobs":null'), why: 'no log-probs' },
    { json: plain.replace('"logprob":-0.25,', ''), why: 'an entry without its log-prob' },
    { json: plain.replace('-0.25', '-0.25,"logprob":-1'), why: 'a log-prob twice' },
    {
      json: plain.replace('"logprob":', '"logpro\\u0062":-1,"logprob":'),
      why: 'a log-prob twice, once with an escape',
    },
    { json: plain.replace(',"token_ids":[7]', ''), why: 'no ids' },
    { json: plain.replace('[7]', '[7.5]'), why: 'an id that is none' },
    { json: plain.replace('[1,20,300]', '[1,-20,300]'), why: 'an id of the prompt that is none' },
    { json: plain.replace(',"prompt_token_ids":[1,20,300]', ''), why: 'no ids of the prompt' },
    { json: answer(`{${members},"token_ids":[8]}`), why: 'ids twice' },
    { json: answer(`{${members},${scored}}`), why: 'log-probs twice' },
    { json: plain.replace('"usage"', '"prompt_token_ids":[9],"usage"'), why: 'ids of the prompt twice' },
    { json: answer(`{"token_ids":[7],${message},${scored},"finish_reason":"stop"}`), why: 'ids before all else' },
    { json: answer(`{${members},"prompt_token_ids":[1]}`), why: 'ids of the prompt in the choice' },
    { json: answer(`{${members},"output_token_ids":[1]}`), why: 'ids under another name' },
    { json: plain.replace('"usage"', '"token_ids":[1],"usage"'), why: 'ids beside the choices' },
    { json: plain.replace('"usage"', '"sglext":{},"usage"'), why: 'what SGLang puts its ids into' },
    {
      json: `{"prompt_token_ids":[1],${plain.slice(1).replace('"prompt_token_ids"', '"ids"')}`,
      why: 'ids before all else',
    },
  ])('is parsed in full where it is in another form: $why', ({ json }) => {
    expect(isRead(json)).toBe(false);
    expect(read(json)).toEqual(parsed(json));
  });

  it.each([
    { json: answer(''), why: 'none' },
    { json: plain.replace('"usage"', '"choices":[],"usage"'), why: 'none in the second of two members' },
  ])('is no answer without a choice: $why', ({ json }) => {
    expect(isRead(json)).toBe(false);
    expect(() => read(json)).toThrow('chat completion');
  });

  it.each([
    { fields: { ...asked, tokenIds: false }, why: 'ids' },
    { fields: { ...asked, logProbs: false }, why: 'log-probs' },
  ])('is parsed in full where the client asked for them itself: $why', ({ fields }) => {
    expect(isRead(plain, fields)).toBe(false);
  });

  it('is no answer where it is no JSON, wherever that is', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: plain.length - 1 }),
        fc.constantFrom('', ',', '"', '}', ']', '\u0001'),
        (at, with_) => {
          const json = Buffer.from(plain.slice(0, at) + with_ + plain.slice(at + 1)).toString();
          let whole: unknown;
          try {
            whole = parsed(json);
          } catch {
            expect(() => read(json)).toThrow();
            return;
          }
          if (Array.isArray(whole) && whole[0] === undefined) expect(() => read(json)).toThrow();
          else expect(read(json)).toEqual(whole);
        },
      ),
      { numRuns: 2_000 },
    ));

  it('is what vLLM answers', () => {
    const { bytes } = wholeTemplate({ promptTokens: 300, ids: true, logProbs: true, usage: true, stamped: false });
    expect(isRead(bytes.toString())).toBe(true);
    expect(read(bytes.toString())).toEqual(parsed(bytes.toString()));
  });
});
