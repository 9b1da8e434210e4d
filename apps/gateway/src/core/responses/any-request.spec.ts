import fc from 'fast-check';
import { checkRequest } from '../request-check';
import { nothingAsked } from '../strip-fields';
import { RequestRefusal } from './request-refusal';
import { itemId, responseId } from './response-ids';
import { responsesFormat } from './responses-format';
import { chatBody, namedTurns } from './responses-request';

type Json = Record<string, unknown>;

const TURN = '0f8fad5b-d9cb-469f-a165-70867728950e';
const past = new Map([
  [TURN, { messages: [{ role: 'user', content: 'Hi' }], answer: { content: 'A', tool_calls: [null, {}] } }],
]);

/** Mostly right, now and then anything, so that both a refusal and a chat request come of it. */
const any = fc.jsonValue({ maxDepth: 2 });
const or = (right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 40, arbitrary: right }, { weight: 1, arbitrary: any });
type Fields = Record<string, fc.Arbitrary<unknown>>;
const mostly = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, or(value)]));
const all = (fields: Fields): fc.Arbitrary<Json> => fc.record(mostly(fields));
const some = (fields: Fields): fc.Arbitrary<Json> => fc.record(mostly(fields), { requiredKeys: [] });
const text = fc.string({ maxLength: 5 });
const said = all({ type: fc.constantFrom('output_text', 'refusal'), text, refusal: text });
const part = all({
  type: fc.constantFrom('input_text', 'text', 'refusal', 'input_image', 'input_file', 'input_audio'),
  text,
  refusal: text,
  image_url: text,
  file_data: text,
  input_audio: fc.object(),
});
const content = fc.oneof(text, fc.array(part, { maxLength: 2 }));
const id = fc.constantFrom(itemId('msg', TURN, 0), itemId('fc', TURN, 0), itemId('rs', TURN, 0));
const called = { id, call_id: text, name: text, arguments: text, input: text, output: content };
const item = fc.oneof(
  all({ role: fc.constantFrom('user', 'system', 'developer'), content }),
  all({ type: fc.constant('message'), role: fc.constant('assistant'), id, content: fc.array(said, { maxLength: 2 }) }),
  all({ type: fc.constantFrom('function_call', 'custom_tool_call'), ...called }),
  all({ type: fc.constantFrom('function_call_output', 'custom_tool_call_output'), ...called }),
  all({ type: fc.constant('reasoning'), id, content: fc.array(part, { maxLength: 1 }) }),
  all({ type: fc.constant('item_reference'), id }),
);
const tool = all({ type: fc.constantFrom('function', 'custom'), name: text, parameters: fc.object(), format: part });
const input = or(fc.oneof(text, fc.array(or(item), { minLength: 1, maxLength: 4 })));
const fields = some({
  instructions: text,
  previous_response_id: fc.constant(responseId(TURN)),
  tools: fc.array(or(tool), { maxLength: 2 }),
  tool_choice: fc.oneof(
    fc.constantFrom('auto', 'none', 'required'),
    all({
      type: fc.constantFrom('function', 'custom', 'allowed_tools'),
      mode: fc.constant('auto'),
      name: text,
      tools: fc.array(or(tool)),
    }),
  ),
  text: some({ format: all({ type: fc.constantFrom('text', 'json_object', 'json_schema') }) }),
  reasoning: some({ effort: text }),
  include: fc.array(text),
  top_logprobs: fc.nat(3),
  stream: fc.boolean(),
});
// As it comes out of a body: JSON knows no infinity.
const request = fc
  .tuple(fields, input)
  .map(([others, value]): Json => JSON.parse(JSON.stringify({ ...others, input: value })) as Json);
const delta = some({
  content: text,
  reasoning_content: text,
  refusal: text,
  tool_calls: fc.array(or(some({ index: fc.nat(2), id: text, function: some({ name: text, arguments: text }) })), {
    maxLength: 3,
  }),
});
const choice = some({
  index: fc.constant(0),
  delta,
  message: delta,
  finish_reason: fc.constantFrom('stop', 'length', 'content_filter'),
  logprobs: some({ content: fc.array(any, { maxLength: 1 }) }),
});
const chunk = some({ model: text, usage: any, choices: fc.array(or(choice), { maxLength: 2 }) });

describe('whatever comes', () => {
  it('a request is refused with its reason, or becomes a chat request', () => {
    let asked = 0;
    let refused = 0;
    fc.assert(
      fc.property(or(request), (body) => {
        let chat: Json;
        asked++;
        try {
          namedTurns(body);
          chat = chatBody(body, past);
        } catch (error) {
          refused++;
          return void expect(error).toBeInstanceOf(RequestRefusal);
        }
        const checked = checkRequest(chat);
        // What neither says anything of is the engine's to judge; these two are the gateway's in chat as well.
        if (!checked.ok) expect(checked.param).toMatch(/^(model|stream|chat_template_kwargs)$/);
        responsesFormat(body as Json, 0)
          .stream(nothingAsked, TURN)
          .done(null);
      }),
      { numRuns: 1_000 },
    );
    expect(refused / asked).toBeGreaterThan(0.1);
    expect(refused / asked).toBeLessThan(0.9);
  });

  it('an engine’s answer becomes a response', () =>
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 5 }), request, (chunks, body) => {
        const format = responsesFormat({ ...body, tools: [], text: {}, reasoning: {} }, 0);
        const stream = format.stream(nothingAsked, TURN);
        const event = { raw: new Uint8Array(), data: '', event: null };
        const written = [...chunks.flatMap((each) => [...stream.chunk(event, each)]), ...stream.done(null)];
        const last = Buffer.concat(written).toString().trim().split('\n').at(-1)!;
        expect(JSON.parse(last.slice('data: '.length))).toMatchObject({ response: { id: responseId(TURN) } });
        for (const each of chunks) {
          const answer = { bytes: Buffer.of(), stripped: null, body: each, answers: [] };
          JSON.parse(format.whole(answer, nothingAsked, TURN).toString());
        }
      }),
      { numRuns: 300 },
    ));
});
