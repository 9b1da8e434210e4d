import { streamTemplates } from '../bench/engine-bytes';
import { Random } from '../testing/random';
import { ChunkAssembler } from './chunk-assembler';
import { afterValue } from './json-scan';
import { SseParser, type SseEvent } from './sse-parser';
import { stripEvent, type AskedFields } from './strip-fields';
import { TokenEvents } from './token-events';

const asked: AskedFields = { tokenIds: true, logProbs: true, usage: true };
const head = '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"seed","choices":[';
const choice = (members: string): string => `${head}{${members}}]}`;
const entry = '{"token":" a","logprob":-0.25,"bytes":[32,97],"top_logprobs":[]}';
const plain = `"index":0,"delta":{"content":" a"},"logprobs":{"content":[${entry}]},"finish_reason":null,"token_ids":[7]`;

const eventOf = (data: string): SseEvent => new SseParser().push(Buffer.from(`data: ${data}\n\n`))[0]!;

function reader(fields = asked): TokenEvents {
  const events = new TokenEvents(fields);
  events.learn(eventOf(choice('"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null')));
  return events;
}

/** What the event gives when it is parsed. */
function parsed(event: SseEvent, fields = asked): unknown {
  const chunk = JSON.parse(event.data!) as Record<string, unknown>;
  const assembler = new ChunkAssembler();
  assembler.add(chunk);
  return [assembler.answers(2), assembler.tokensSeen, Buffer.from(stripEvent(event, chunk, fields) ?? []).toString()];
}

/** The same without parsing it; `null` where it has to be. Whatever event came before it, it says the same. */
function unparsed(event: SseEvent, fields = asked): unknown {
  const said = saidBy(reader(fields), event);
  for (const before of [plain, plain.replace('" a"', '"\\n"'), plain.replace('"index":0', '"index":1')]) {
    const tokens = reader(fields);
    expect(tokens.read(eventOf(choice(before)))).not.toBeNull();
    expect(saidBy(tokens, event)).toEqual(said);
  }
  return said;
}

function saidBy(tokens: TokenEvents, event: SseEvent): unknown {
  const written = tokens.read(event);
  if (!written) return null;
  const assembler = new ChunkAssembler();
  assembler.add({ id: 'chatcmpl-1', model: 'seed' });
  assembler.addTokens(tokens);
  return [assembler.answers(2), assembler.tokensSeen, Buffer.from(written).toString()];
}

describe('an event with tokens alone', () => {
  it.each([
    { data: choice(plain), why: 'as vLLM writes it' },
    {
      data: choice(plain.replace('[7]', '[7,8]').replace(`[${entry}]`, `[${entry},${entry}]`)),
      why: 'two tokens at once',
    },
    { data: choice(plain.replace('" a"', '"Zü\\"r\\u00efch 🙂\\n"')), why: 'escapes, and letters of several bytes' },
    { data: choice(plain.replace('"index":0', '"index":1')), why: 'another choice' },
    { data: choice(plain.replace('-0.25', '-1.5e-3')), why: 'a number with an exponent' },
    { data: choice(`${plain},"stop_reason":null`), why: 'a member that says nothing' },
    { data: choice(plain.replace('{"content":" a"}', '{"content":" a","tool_calls":null}')), why: 'a delta with null' },
    { data: choice(plain.replace('"finish_reason":null,', '').concat(',"finish_reason":null')), why: 'another order' },
    { data: choice(plain.replace('[7]', '[]').replace(`[${entry}]`, '[]')), why: 'text without a token of its own' },
  ])('is what its parsed chunk says: $why', ({ data }) => {
    for (const fields of [asked, { ...asked, logProbs: false }, { ...asked, tokenIds: false }]) {
      const event = eventOf(data);
      expect(unparsed(event, fields)).toEqual(parsed(event, fields));
    }
  });

  it.each([
    { data: choice(plain.replace('"finish_reason":null', '"finish_reason":"stop"')), why: 'the last token' },
    { data: choice(plain.replace('"content":" a"}', '"content":" a","role":"tool"}')), why: 'a role' },
    { data: choice(plain.replace('" a"', 'null')), why: 'no text' },
    { data: choice(plain.replace(/"logprobs":.*?,"fin/, '"logprobs":null,"fin')), why: 'no log-probs' },
    { data: choice(plain.replace('"logprob":-0.25,', '')), why: 'an entry without its log-prob' },
    { data: choice(plain.replace('-0.25', '-0.25,"logprob":-1')), why: 'a log-prob twice' },
    { data: choice(plain.replace(',"token_ids":[7]', '')), why: 'no ids' },
    { data: choice(plain.replace('[7]', '[7.5]')), why: 'an id that is none' },
    { data: choice(plain.replace('[7]', '[07]')), why: 'no JSON: a leading zero' },
    { data: choice(plain.replace('[32,97]', '[32,,97]')), why: 'no JSON: two commas' },
    { data: choice(plain.replace('" a"', '"\\x"')), why: 'no JSON: an escape that is none' },
    { data: choice(`${plain},"token_ids":[8]`), why: 'a member twice' },
    { data: choice(`${plain},"\\u0069ndex":null`), why: 'a member twice, once with an escape' },
    { data: `${choice(plain).slice(0, -1)},"error":{}}`, why: 'something after the choices' },
    { data: choice(plain).replace('seed', 'leaf'), why: 'another model' },
    { data: choice(plain).replace('[{', '[ {'), why: 'white space' },
    { data: `${head}{${plain}},{${plain}}]}`, why: 'two choices' },
    { data: choice(`${plain},"prompt_token_ids":null`), why: 'ids that the client does not get, be they null' },
  ])('is no other: $why', ({ data }) => expect(unparsed(eventOf(data))).toBeNull());

  it('is read after one of several tokens, and the other way round', () => {
    const several = choice(plain.replace('[7]', '[7,8]').replace(`[${entry}]`, `[${entry},${entry}]`));
    const tokens = reader();
    for (const data of [choice(plain), several, choice(plain.replace('[7]', '[9]')), several]) {
      const event = eventOf(data);
      expect(saidBy(tokens, event)).toEqual(parsed(event));
    }
  });

  it('is read whatever choice the one before it was of', () => {
    const tokens = reader();
    for (const index of [0, 1, 0, 1, 1, 0, 0, 1, 0]) {
      const event = eventOf(choice(plain.replace('"index":0', `"index":${index}`)));
      expect(saidBy(tokens, event)).toEqual(parsed(event));
    }
  });

  it('is read by itself only after one like it was parsed', () => {
    expect(new TokenEvents(asked).read(eventOf(choice(plain)))).toBeNull();
  });

  it('is most of a stream of vLLM', () => {
    const templates = streamTemplates({ promptTokens: 8, ids: true, logProbs: true, usage: true, stamped: false });
    const events = new SseParser().push(Buffer.concat(templates.map(({ bytes }) => bytes)));
    const tokens = new TokenEvents(asked);
    tokens.learn(events[0]!);
    // All but the role, the last token, the usage and the end mark.
    expect(events.filter((event) => tokens.read(event) !== null)).toHaveLength(63);
  });

  it('never says anything else than its parsed chunk, however its bytes are changed', () => {
    const random = new Random(7);
    const bytes = Buffer.from(`data: ${choice(plain)}\n\n`);
    const replacements = [...'"\\{}[]:,0159-+.eEuntf \n'];
    const [dataStart, dataEnd] = ['data: '.length, bytes.length - 2];
    let read = 0;
    for (let round = 0; round < 5_000; round++) {
      const raw = Buffer.from(bytes);
      const at = dataStart + head.length + random.below(dataEnd - dataStart - head.length);
      raw.write(random.pick(replacements), at);
      const event: SseEvent = { raw, data: raw.toString('utf8', dataStart, dataEnd), event: null, dataStart, dataEnd };
      const said = unparsed(event);
      if (said === null) continue;
      read++;
      expect(said).toEqual(parsed(event));
    }
    expect(read).toBeGreaterThan(300);
  });
});

describe('stepping over a value', () => {
  it.each([
    'null',
    'true',
    '-0.5e+7',
    '0',
    '""',
    '"\\ud83d\\u0041"',
    '[]',
    '{}',
    '[1,[2,{"a":[]}]]',
    '{"a":{"b":"}"},"c":1}',
  ])('ends after %s', (json) => expect(afterValue(Buffer.from(`${json},`), 0)).toBe(json.length));

  it.each(['nul', '-', '01x', '1.', '1e', '"', '"\n"', '"\\u12g4"', '[1,]', '[1', '{"a"}', '{"a":1,}', '{a:1}', ''])(
    'finds none in %j',
    (json) => expect([-1, 1]).toContain(afterValue(Buffer.from(json), 0)),
  );
});
