import fc from 'fast-check';
import type { SseEvent } from '../sse-parser';
import { readMessage } from '../../testing/message-events';
import { MessagesStream } from './messages-stream';

type Json = Record<string, unknown>;
const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
const event: SseEvent = { raw: new Uint8Array(), data: '', event: null };
const textOf = (written: readonly Uint8Array[]): string => Buffer.concat(written).toString();
const delta = (fields: object, rest: object = {}): Json => ({
  id: 'c',
  model: 'seed',
  choices: [{ index: 0, delta: fields, finish_reason: null, ...rest }],
});
const call = (index: number, args: string, more: object = {}): Json =>
  delta({
    tool_calls: [{ index, ...more, function: { arguments: args, ...('name' in more && { name: more.name }) } }],
  });
const end = (reason = 'stop', more: object = {}): Json => delta({}, { finish_reason: reason, ...more });
const usage = { choices: [], usage: { prompt_tokens: 12, completion_tokens: 4 } };
const read = (
  chunks: Json[],
  options = { stopSequences: ['END'], showsThinking: true },
): { message: Json; events: Json[] } => {
  const stream = new MessagesStream(id, options);
  const text = chunks.map((chunk) => textOf(stream.chunk(event, chunk))).join('') + textOf(stream.done());
  return readMessage(text);
};
const content = (...chunks: Json[]): Json[] => read(chunks).message['content'] as Json[];

describe('MessagesStream', () => {
  it('says what Anthropic documents, in that order', () => {
    const { events } = read([
      { ...delta({ role: 'assistant', content: '' }), prompt_token_ids: [1, 2, 3] },
      delta({ content: 'Hel' }),
      delta({ content: 'lo' }),
      end('stop', { stop_reason: 'END' }),
      usage,
    ]);
    expect(events).toMatchObject([
      {
        type: 'message_start',
        message: {
          id: 'msg_0f8fad5bd9cb469fa16570867728950e',
          type: 'message',
          role: 'assistant',
          model: 'seed',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 3, output_tokens: 0 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'ping' },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
        usage: { input_tokens: 12, output_tokens: 4 },
      },
      { type: 'message_stop' },
    ]);
  });

  it('thinking, text and tools become blocks one after the other', () => {
    const { message } = read([
      delta({ reasoning_content: 'h' }),
      delta({ reasoning: 'm' }),
      delta({ content: 'I look.' }),
      call(0, '', { id: 'a', name: 'read' }),
      call(0, '{"p":'),
      call(0, '1}'),
      end('tool_calls'),
      usage,
    ]);
    expect(message).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'hindcast' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'a', name: 'read', input: { p: 1 } },
      ],
      stop_reason: 'tool_use',
    });
  });

  it('parallel calls whose fragments interleave stay whole', () => {
    expect(
      content(
        call(0, '{"p"', { id: 'a', name: 'read' }),
        call(1, '{"d', { id: 'b', name: 'list' }),
        call(0, ':"x'),
        call(1, '":1}'),
        call(2, '{}', { name: 'stop' }),
        call(0, '"}'),
        end(),
      ),
    ).toMatchObject([
      { id: 'a', name: 'read', input: { p: 'x' } },
      { id: 'b', name: 'list', input: { d: 1 } },
      { id: 'toolu_0f8fad5bd9cb469fa16570867728950e_2', name: 'stop', input: {} },
    ]);
  });

  it('the fragments of a second call do not wait for the end when the first is whole', () => {
    const stream = new MessagesStream(id, { stopSequences: [], showsThinking: true });
    stream.chunk(event, call(0, '{"p":1}', { id: 'a', name: 'read' }));
    stream.chunk(event, call(1, '', { id: 'b', name: 'read' }));
    expect(textOf(stream.chunk(event, call(1, '{"p"')))).toContain('"partial_json":"{\\"p\\""');
  });

  it('arguments that go on after their end are no answer', () => {
    const stream = new MessagesStream(id, { stopSequences: [], showsThinking: true });
    stream.chunk(event, call(0, '{}', { id: 'a', name: 'read' }));
    stream.chunk(event, call(1, '{}', { id: 'b', name: 'read' }));
    expect(stream.chunk(event, call(0, ' \n'))).toEqual([]);
    expect(() => stream.chunk(event, call(0, '{"x":1}'))).toThrow('after their end');
  });

  it.each([
    {
      why: 'white space alone opens no block',
      chunks: [delta({ content: '\n\n' }), call(0, '{}', { id: 'a', name: 'read' }), delta({ content: '\n' })],
      types: ['tool_use'],
    },
    {
      why: 'white space before a text belongs to it',
      chunks: [delta({ content: '\n' }), delta({ content: ' ' }), delta({ content: 'a' })],
      types: ['text:\n a'],
    },
    {
      why: 'text after a call that is not whole waits',
      chunks: [
        delta({ content: 'a' }),
        call(0, '{', { id: 'x', name: 'read' }),
        delta({ content: ' b' }),
        delta({ content: 'c' }),
        call(0, '}'),
      ],
      types: ['text:a', 'tool_use', 'text: bc'],
    },
    {
      why: 'a name that comes late',
      chunks: [call(0, '{', { id: 'x' }), call(0, '}', { name: 'read' })],
      types: ['tool_use'],
    },
    { why: 'a refusal', chunks: [delta({ refusal: 'I ' }), delta({ refusal: 'do not' })], types: ['text:I do not'] },
    {
      why: 'the call of old',
      chunks: [
        delta({ function_call: { name: 'read', arguments: '{' } }),
        delta({ function_call: { arguments: '}' } }),
      ],
      types: ['tool_use'],
    },
    {
      why: 'another choice',
      chunks: [delta({ content: 'a' }), delta({ content: 'b' }, { index: 1 })],
      types: ['text:a'],
    },
    { why: 'nothing at all', chunks: [delta({ role: 'assistant' })], types: [] },
  ])('$why', ({ chunks, types }) => {
    const blocks = content(...chunks, end());
    expect(blocks.map(({ type, text }) => (type === 'text' ? `text:${String(text)}` : type))).toEqual(types);
  });

  it('a client that switched thinking off gets none', () => {
    const { message } = read([delta({ reasoning: 'hm' }), delta({ content: 'a' }), end()], {
      stopSequences: [],
      showsThinking: false,
    });
    expect(message['content']).toMatchObject([{ type: 'text' }]);
  });

  it('ids count where no usage came', () => {
    const { message } = read([
      { ...delta({ content: 'a' }, { token_ids: [7, 8] }), prompt_token_ids: [1, 2] },
      delta({ content: 'b' }, { token_ids: [9], finish_reason: 'length' }),
    ]);
    expect(message).toMatchObject({ stop_reason: 'max_tokens', usage: { input_tokens: 2, output_tokens: 3 } });
  });

  it('D40 nothing is sent before the first block, so that a failure still has a status', () => {
    const stream = new MessagesStream(id, { stopSequences: [], showsThinking: true });
    expect(stream.chunk(event, delta({ role: 'assistant', content: '' }))).toEqual([]);
  });

  const begun = (): MessagesStream => {
    const stream = new MessagesStream(id, { stopSequences: [], showsThinking: true });
    stream.chunk(event, delta({ content: 'a' }));
    return stream;
  };
  it.each([
    {
      why: 'a broken stream',
      end: (stream: MessagesStream) => stream.failed('failed', 'it broke'),
      error: { type: 'api_error', message: 'it broke', details: { error_code: 'engine-stream-broken' } },
    },
    {
      why: 'an unreadable event',
      end: (stream: MessagesStream) => stream.failed('malformed', 'no JSON'),
      error: { type: 'api_error', message: 'no JSON', details: { error_code: 'engine-invalid-response' } },
    },
    {
      why: "the engine's error",
      end: (stream: MessagesStream) => stream.reported(event, { message: 'full', type: 'x', code: 503 }),
      error: { type: 'overloaded_error', message: 'full' },
    },
    {
      why: 'an answer that the engine gave up',
      end: (stream: MessagesStream) => [...stream.chunk(event, end('abort')), ...stream.done()],
      error: {
        type: 'api_error',
        message: 'the engine aborted the answer',
        details: { error_code: 'engine-stream-broken' },
      },
    },
  ])('$why ends with an error event, and with nothing after it', ({ end: finish, error }) => {
    const stream = begun();
    const [head, data] = textOf(finish(stream)).split('\n');
    expect(head).toBe('event: error');
    expect(JSON.parse(data!.slice(6))).toEqual({ type: 'error', error });
    expect(stream.done()).toEqual([]);
  });

  it('chunks of any shape are passed over', () => {
    const any = fc.jsonValue({ maxDepth: 3 });
    const choice = fc.record({
      index: any,
      delta: fc.oneof(any, fc.record({ content: any, tool_calls: any, reasoning: any })),
    });
    const chunk = fc.record({
      choices: fc.oneof(any, fc.array(fc.oneof(choice, any), { maxLength: 3 })),
      usage: any,
      model: any,
    });
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 5 }), (chunks) => {
        expect(read(chunks as Json[]).message['id']).toMatch(/^msg_/);
      }),
    );
  });
});

// What takes the square of its size would take minutes here.
describe('MessagesStream: long answers', () => {
  const MANY = 75_000;
  it('takes very many fragments of white space', () => {
    const stream = new MessagesStream(id, { stopSequences: [], showsThinking: true });
    const space = delta({ content: ' '.repeat(20) });
    for (let piece = 0; piece < MANY; piece++) stream.chunk(event, space);
    expect(textOf(stream.chunk(event, delta({ content: 'x' })))).toContain(`"text":"${' '.repeat(20 * MANY)}x"`);
  });

  it('takes very many tools that wait for the first', () => {
    const stream = new MessagesStream(id, { stopSequences: [], showsThinking: true });
    stream.chunk(event, call(0, '{"a":"'.padEnd(3_000_000, 'x') + '}', { id: 'a', name: 'f' }));
    for (let index = 1; index < 20_000; index++) stream.chunk(event, call(index, '{}', { id: 'b', name: 'g' }));
    expect(textOf(stream.done()).match(/event: content_block_stop/g)!.length).toBe(20_000);
  });
});
