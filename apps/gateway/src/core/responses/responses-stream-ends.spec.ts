import { nothingAsked } from '../strip-fields';
import { responsesFormat } from './responses-format';
import { type Json, TURN, event, chunk, call, read, stream, types } from '../../testing/response-events';

describe('a stream that fails', () => {
  const begun = (): ReturnType<ReturnType<typeof responsesFormat>['stream']> =>
    responsesFormat({}, 0).stream(nothingAsked, TURN);
  const first = chunk({ content: 'Hel' });

  it.each([
    { outcome: 'failed' as const, code: 'engine-stream-broken' },
    { outcome: 'malformed' as const, code: 'engine-invalid-response' },
  ])('D41 $outcome: an error that may be tried again, and nothing that passes for an answer', ({ outcome, code }) => {
    const format = begun();
    const events = read([
      ...format.chunk(event, first),
      ...format.failed(outcome, 'it broke'),
      ...format.done(event),
      ...format.chunk(event, first),
      ...format.failed(outcome, 'again'),
    ]);
    const error = { message: 'it broke', type: 'server_error', code, param: null };
    expect(events.slice(-2)).toMatchObject([
      { type: 'error', message: 'it broke', code, param: null, error },
      {
        type: 'response.failed',
        response: { status: 'failed', error: { code: 'server_error', message: 'it broke' }, output: [] },
      },
    ]);
  });

  it.each([
    { reported: { message: 'out of memory', type: 'InternalServerError', code: 500 }, code: '500' },
    { reported: { message: 'x', code: 'too-long' }, code: 'too-long' },
    { reported: 'out of memory', code: null },
    { reported: null, code: null },
  ])('an engine reports $reported', ({ reported, code }) => {
    const format = begun();
    const events = read([...format.chunk(event, first), ...format.reported(event, reported), ...format.done(event)]);
    expect(events.slice(-2)).toMatchObject([{ type: 'error', code }, { type: 'response.failed' }]);
  });

  it('before the first chunk it has begun all the same: clients want response.created first', () =>
    expect(types(read([...begun().failed('failed', 'x')]))).toEqual(['created', 'in_progress', 'error', 'failed']));

  it.each(['abort', 'error'])('an engine that ends with %s has failed', (finish) =>
    expect(types(stream([chunk({ content: 'a' }, finish)])).slice(-2)).toEqual(['error', 'failed']),
  );
});

// What takes the square of its size would take minutes here; arguments of one call would not fit on the stack.
describe('long answers', () => {
  const MANY = 75_000;
  const started = (request: Json = {}) => responsesFormat({ model: 'm', ...request }, 1).stream(nothingAsked, TURN);
  const entry = { token: 'x', logprob: -1, bytes: [120], top_logprobs: [] };

  it('takes very many tokens with log-probs', () => {
    const format = started({ include: ['message.output_text.logprobs'] });
    const token = chunk({ content: 'x' }, null, { logprobs: { content: [entry] } });
    for (let index = 0; index < MANY; index++) format.chunk(event, token);
    const written = Buffer.concat(format.done(event)).toString();
    expect(written).toContain(`"text":"${'x'.repeat(MANY)}"`);
  });

  it('takes very many log-probs in one chunk', () => {
    const format = started({ include: ['message.output_text.logprobs'] });
    const logprobs = { content: Array.from({ length: MANY }, () => entry) };
    format.chunk(event, chunk({ content: ' ' }, null, { logprobs }));
    const written = format.chunk(event, chunk({ content: 'x' }, null, { logprobs }));
    expect(
      Buffer.concat(written)
        .toString()
        .match(/"logprob":-1/g)!.length,
    ).toBe(2 * MANY);
  });

  it('takes very many fragments of white space', () => {
    const format = started();
    const space = chunk({ content: ' '.repeat(20) });
    for (let piece = 0; piece < MANY; piece++) format.chunk(event, space);
    expect(Buffer.concat(format.chunk(event, chunk({ content: 'x' }))).toString()).toContain('x"');
  });

  it('takes very many fragments of other calls while one is not whole', () => {
    const format = started();
    format.chunk(event, chunk(call(0, '{"a":"'.padEnd(3_000_000, 'x') + '}', 'f')));
    for (let index = 1; index < 20_000; index++) format.chunk(event, chunk(call(index, '{}', 'g')));
    const events = Buffer.concat(format.done(event)).toString();
    expect(events.match(/event: response.output_item.done/g)!.length).toBe(20_000);
  });
});
