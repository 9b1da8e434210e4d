import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator';
import { nothingAsked } from '../strip-fields';
import { itemId, responseId } from './response-ids';
import { responsesFormat } from './responses-format';
import { type Json, TURN, event, chunk, call, stream, types } from '../../testing/response-events';

const msg = itemId('msg', TURN, 0);
const rs = itemId('rs', TURN, 0);
const fc = (index: number): string => itemId('fc', TURN, index);
const usage: Json = {
  model: 'seed',
  choices: [],
  usage: {
    prompt_tokens: 7,
    completion_tokens: 3,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 2 },
  },
};
const finalOf = (events: readonly Json[]): Json => events.at(-1)!['response'] as Json;
/** What OpenAI's own client makes of the events. */
const accumulated = (events: readonly Json[]): Json =>
  events.reduce((snapshot: unknown, each) => accumulateResponse(each as never, snapshot as never), undefined) as Json;

describe('a streamed answer', () => {
  it('of text, as OpenAI documents it', () => {
    const events = stream([
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hello' }),
      chunk({ content: ' there' }, 'stop'),
      usage,
    ]);
    const place = { item_id: msg, output_index: 0, content_index: 0 };
    const part = (text: string): Json => ({ type: 'output_text', text, annotations: [], logprobs: [] });
    const item = (status: string, content: Json[]): Json => ({
      id: msg,
      type: 'message',
      role: 'assistant',
      status,
      content,
    });
    expect(events.slice(0, 2)).toMatchObject([
      { type: 'response.created', response: { id: responseId(TURN), status: 'in_progress', output: [], usage: null } },
      { type: 'response.in_progress', response: { status: 'in_progress' } },
    ]);
    expect(events.slice(2, -1)).toEqual(
      [
        { type: 'response.output_item.added', output_index: 0, item: item('in_progress', []) },
        { type: 'response.content_part.added', ...place, part: part('') },
        { type: 'response.output_text.delta', ...place, delta: 'Hello', logprobs: [] },
        { type: 'response.output_text.delta', ...place, delta: ' there', logprobs: [] },
        { type: 'response.output_text.done', ...place, text: 'Hello there', logprobs: [] },
        { type: 'response.content_part.done', ...place, part: part('Hello there') },
        { type: 'response.output_item.done', output_index: 0, item: item('completed', [part('Hello there')]) },
      ].map((each, index) => ({ ...each, sequence_number: index + 2 })),
    );
    expect(finalOf(events)).toEqual({
      id: responseId(TURN),
      object: 'response',
      created_at: 1_700_000_000,
      status: 'completed',
      background: false,
      error: null,
      incomplete_details: null,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      model: 'seed',
      output: [item('completed', [part('Hello there')])],
      parallel_tool_calls: true,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      service_tier: null,
      store: true,
      temperature: null,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      top_logprobs: 0,
      top_p: null,
      truncation: 'disabled',
      usage: {
        input_tokens: 7,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens: 3,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 10,
      },
      user: null,
      metadata: {},
    });
  });

  it('each event leaves with the chunk that brought it, the first with the first word', () => {
    const format = responsesFormat({}, 0).stream(nothingAsked, TURN);
    const counts = [chunk({ role: 'assistant' }), chunk({ content: 'a' }), chunk({ content: 'b' })].map(
      (each) => format.chunk(event, each).length,
    );
    expect(counts).toEqual([0, 5, 1]);
  });

  it('of reasoning and calls whose fragments come interleaved', () => {
    const events = stream([
      chunk({ reasoning_content: 'Hm' }),
      chunk({ reasoning: '.' }),
      chunk(call(0, '{"a"', 'one')),
      chunk(call(1, '{', 'two')),
      chunk(call(0, ':1}')),
      chunk({ tool_calls: [(call(1, '}')['tool_calls'] as Json[])[0], { index: 2, function: { name: 'three' } }] }),
      chunk({}, 'tool_calls'),
    ]);
    // One item after the other: what call 1 brings while call 0 is not whole waits.
    expect(types(events.slice(2))).toEqual([
      'output_item.added',
      'content_part.added',
      'reasoning_text.delta',
      'reasoning_text.delta',
      'reasoning_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ]);
    const item = (index: number, name: string, written: string, id = `call_${name}`): Json => ({
      id: fc(index),
      type: 'function_call',
      status: 'completed',
      call_id: id,
      name,
      arguments: written,
    });
    expect(finalOf(events)['output']).toEqual([
      {
        id: rs,
        type: 'reasoning',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'Hm.' }],
        status: 'completed',
      },
      item(0, 'one', '{"a":1}'),
      item(1, 'two', '{}'),
      item(2, 'three', '', `call_${TURN.replaceAll('-', '')}_2`),
    ]);
  });

  it.each([
    { why: 'index 1 before index 0', chunks: [call(1, '{}', 'two'), call(0, '{}', 'one')] },
    {
      why: 'the name after the arguments began',
      chunks: [
        call(0, '{'),
        call(1, '{}', 'two'),
        { tool_calls: [{ index: 0, function: { name: 'one' } }] },
        call(0, '}'),
      ],
    },
    {
      why: 'no index',
      chunks: [{ tool_calls: [...['one', 'two']].map((name) => ({ function: { name, arguments: '{}' } })) }],
    },
  ])('calls keep the order that they are captured in: $why', ({ chunks }) => {
    const output = finalOf(stream([...chunks.map((each) => chunk(each)), chunk({}, 'tool_calls')]))['output'];
    expect(output).toMatchObject([
      { id: fc(0), name: 'one', arguments: '{}' },
      { id: fc(1), name: 'two', arguments: '{}' },
    ]);
  });

  it('one item is open at a time, whatever the engine mixes: there are clients that follow no other', () => {
    const events = stream([
      chunk({ content: 'a' }),
      chunk(call(0, '{"x":', 'one')),
      chunk(call(1, '{}', 'two')),
      chunk({ reasoning: 'Hm.' }),
      chunk({ content: 'b' }),
      chunk(call(2, '{', 'three')),
      chunk(call(0, '1}')),
      chunk(call(0, ' ')),
      chunk({}, 'tool_calls'),
    ]);
    let open: unknown = null;
    for (const { type, output_index: index } of events) {
      if (type === 'response.output_item.added') {
        expect(open).toBeNull();
        open = index;
      }
      if (index !== undefined) expect(index).toBe(open);
      if (type === 'response.output_item.done') open = null;
    }
    expect(finalOf(events)['output']).toMatchObject([
      { id: msg, content: [{ text: 'a' }] },
      { id: fc(0), arguments: '{"x":1}' },
      { id: fc(1), arguments: '{}' },
      { id: fc(2), arguments: '{' },
      { id: itemId('msg', TURN, 1), content: [{ text: 'b' }] },
      { id: rs, content: [{ text: 'Hm.' }] },
    ]);
  });

  it.each([
    { why: 'before calls: no message', chunks: [chunk({ content: '\n\n' }), chunk(call(0, '{}', 'one'))], texts: [] },
    { why: 'after calls: no message', chunks: [chunk(call(0, '{}', 'one')), chunk({ content: '\n' })], texts: [] },
    { why: 'before text: with it', chunks: [chunk({ content: '\n' }), chunk({ content: 'a' })], texts: ['\na'] },
    { why: 'alone: it is the answer', chunks: [chunk({ content: '\n' })], texts: ['\n'] },
  ])('white space $why', ({ chunks, texts }) => {
    const output = finalOf(stream([...chunks, chunk({}, 'stop')]))['output'] as Json[];
    const messages = output.filter(({ type }) => type === 'message');
    expect(messages.map(({ content }) => (content as Json[])[0]!['text'])).toEqual(texts);
  });

  it.each([
    { why: 'nothing at all', chunks: [chunk({}, 'stop')] },
    { why: 'reasoning only', chunks: [chunk({ reasoning: 'Hm.' }, 'stop')] },
    { why: 'a refusal', chunks: [chunk({ refusal: 'No' }), chunk({ refusal: '.' }, 'stop')] },
    { why: 'a refusal after text', chunks: [chunk({ content: 'Well' }), chunk({ refusal: 'No.' }, 'stop')] },
    {
      why: 'text that goes on after a call, reasoning that comes back',
      chunks: [
        chunk({ content: 'a' }),
        chunk(call(0, '{}', 'one')),
        chunk({ reasoning: 'Hm.' }),
        chunk({ content: 'b' }, 'tool_calls'),
      ],
    },
    { why: 'cut by the limit', chunks: [chunk({ content: 'a' }), chunk(call(0, '{"a', 'one')), chunk({}, 'length')] },
  ])("OpenAI's client puts the events together to the final response: $why", ({ chunks }) => {
    const events = stream(chunks);
    const { output } = finalOf(events);
    expect(accumulated(events.slice(0, -1))['output']).toEqual(output);
    expect(output).not.toHaveLength(0);
  });

  it.each([
    { finish: 'stop', status: 'completed', details: null },
    { finish: 'tool_calls', status: 'completed', details: null },
    { finish: 'length', status: 'incomplete', details: { reason: 'max_output_tokens' } },
    { finish: 'content_filter', status: 'incomplete', details: { reason: 'content_filter' } },
  ])('$finish is $status', ({ finish, status, details }) => {
    const events = stream([chunk({ content: 'a' }, finish)]);
    expect(events.at(-1)).toMatchObject({
      type: `response.${status}`,
      response: { status, incomplete_details: details, output: [{ status }], error: null },
    });
  });

  it('log-probs only when the client asked for them', () => {
    const entry = { token: 'a', logprob: -0.5, bytes: [97], top_logprobs: [] };
    const chunks = [chunk({ content: 'a' }, 'stop', { logprobs: { content: [entry] } })];
    const deltaOf = (events: Json[]): unknown => events.find(({ type }) => type === 'response.output_text.delta');
    expect(deltaOf(stream(chunks))).toMatchObject({ logprobs: [] });
    const asked = stream(chunks, { include: ['message.output_text.logprobs'] });
    expect(deltaOf(asked)).toMatchObject({ logprobs: [entry] });
    expect(finalOf(asked)['output']).toMatchObject([{ content: [{ logprobs: [entry] }] }]);
  });

  it('a custom tool call gives its text once it is whole', () => {
    const events = stream([chunk(call(0, '{"input":"a\\n', 'patch')), chunk(call(0, 'b"}')), chunk({}, 'tool_calls')], {
      tools: [{ type: 'custom', name: 'patch' }],
    });
    expect(types(events.slice(2, -1))).toEqual([
      'output_item.added',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.done',
      'output_item.done',
    ]);
    expect(finalOf(events)['output']).toEqual([
      {
        id: itemId('ctc', TURN, 0),
        type: 'custom_tool_call',
        status: 'completed',
        call_id: 'call_patch',
        name: 'patch',
        input: 'a\nb',
      },
    ]);
  });

  it('other choices are nobody’s', () =>
    expect(
      finalOf(stream([chunk({ content: 'a' }), { choices: [{ index: 1, delta: { content: 'b' } }] }]))['output'],
    ).toMatchObject([{ content: [{ text: 'a' }] }]));
});
