import { engineErrorResponse, reportedStatus } from './engine-error';
import { decodeOperation, encodeOperation, type Operation } from './operation';
import { checkRequest } from './request-check';
import { answeredVersion, fallbackAdapter, routeModel } from './route-model';
import { sessionFields } from './session-fields';

const user = { role: 'user', content: 'x' };

describe('checkRequest', () => {
  it.each([
    { messages: [user] },
    {
      messages: [{ role: 'assistant' }, { role: 'tool', content: null }, { role: 'developer', content: [] }],
      model: 'm',
      stream: null,
    },
  ])('accepts %j', (body) => expect(checkRequest(body).ok).toBe(true));

  it.each([
    { body: null, param: null },
    { body: [], param: null },
    { body: {}, param: 'messages' },
    { body: { messages: [] }, param: 'messages' },
    { body: { messages: 'x' }, param: 'messages' },
    { body: { messages: [null] }, param: 'messages[0]' },
    { body: { messages: [user, { role: 'robot', content: 'x' }] }, param: 'messages[1].role' },
    { body: { messages: [{ role: 'user', content: 5 }] }, param: 'messages[0].content' },
    { body: { messages: [{ role: 'assistant', tool_calls: {} }] }, param: 'messages[0].tool_calls' },
    { body: { messages: [user], model: 5 }, param: 'model' },
    { body: { messages: [user], stream: 'yes' }, param: 'stream' },
    { body: { messages: [user], stream_options: [] }, param: 'stream_options' },
    { body: { messages: [user], tools: {} }, param: 'tools' },
    { body: JSON.parse(`{"messages":[{"role":"user"}],"temperature":1e400}`) as unknown, param: 'temperature' },
    { body: JSON.parse(`{"messages":[{"role":"user"}],"logit_bias":{"5":[-1e400]}}`) as unknown, param: 'logit_bias' },
  ])('refuses $body', ({ body, param }) => expect(checkRequest(body)).toMatchObject({ ok: false, param }));
});

describe('sessionFields', () => {
  it.each([
    { headers: {}, body: {}, expected: { rawSessionId: null, turnType: 'main', isLast: false } },
    { headers: { 'x-session-id': 'h' }, body: { session_id: 'b' }, expected: { rawSessionId: 'h' } },
    { headers: { 'x-session-id': ' ' }, body: { session_id: 'b' }, expected: { rawSessionId: 'b' } },
    { headers: {}, body: { session_id: 7 }, expected: { rawSessionId: '7' } },
    { headers: { 'x-turn-type': ' Side ' }, body: { turn_type: 'main' }, expected: { turnType: 'side' } },
    { headers: {}, body: { turn_type: 'heartbeat' }, expected: { turnType: 'side' } },
    { headers: { 'x-session-done': 'YES' }, body: {}, expected: { isLast: true } },
    { headers: { 'x-session-done': '0' }, body: { session_done: true }, expected: { isLast: true } },
    { headers: {}, body: { session_done: 'off' }, expected: { isLast: false } },
  ])('$headers $body', ({ headers, body, expected }) => {
    expect(sessionFields(headers, body, 'main')).toMatchObject(expected);
  });
});

describe('models', () => {
  const listed = [
    { id: 'seed', parent: null },
    { id: 'hindcast-v000002', parent: 'seed' },
    { id: 'hindcast-v000010', parent: 'seed' },
    { id: 'tuned-elsewhere', parent: 'seed' },
  ];
  it.each([
    { requested: null, strict: true, expected: { adapter: 'hindcast-v000010', asNamed: null } },
    { requested: 'seed', strict: false, expected: { asNamed: 'seed' } },
    { requested: 'gpt', strict: false, expected: { adapter: 'hindcast-v000010', asNamed: null } },
    { requested: 'gpt', strict: true, expected: { found: false } },
  ])('$requested, strict $strict', ({ requested, strict, expected }) => {
    expect(routeModel(requested, listed, 'hindcast-v000010', strict)).toMatchObject(expected);
  });
  it('falls back to the newest version that is loaded, then to the base', () => {
    expect(fallbackAdapter(listed, 'hindcast-v000011')).toBe('hindcast-v000010');
    expect(fallbackAdapter(listed, 'seed:hindcast-v000010')).toBe('hindcast-v000002');
    expect(fallbackAdapter([], 'hindcast-v000010')).toBeNull();
  });
  it.each([
    { asked: 'hindcast-v000012', answered: 'hindcast-v000012', expected: 12 },
    { asked: 'seed:hindcast-v000012', answered: 'seed', expected: 12 },
    { asked: 'hindcast-v000012', answered: 'hindcast-v000011', expected: 11 },
    { asked: 'seed', answered: null, expected: 0 },
    { asked: 'seed', answered: 'gpt-4', expected: null },
    { asked: 'seed', answered: '', expected: 0 },
    { asked: 'hindcast-v000012', answered: 'gpt-4', expected: null },
    { asked: 'hindcast-v000012', answered: 'tuned-elsewhere', expected: null },
    { asked: 'hindcast-v000012', answered: 'seed', expected: 12 },
    { asked: 'seed:hindcast-v000012', answered: 'seed:hindcast-v000012', expected: 12 },
    { asked: 'seed', answered: 'hindcast-v000012', expected: 12 },
    { asked: 'tuned-elsewhere', answered: 'tuned-elsewhere', expected: null },
  ])('version of $answered, asked for $asked', ({ asked, answered, expected }) => {
    expect(answeredVersion(asked, answered, 'seed', listed)).toBe(expected);
  });
});

describe('engineErrorResponse', () => {
  it.each([
    {
      status: 429,
      text: '{"error":{"message":"slow","type":"x","code":null,"param":null}}',
      expected: 429,
      message: 'slow',
    },
    { status: 400, text: '{"object":"error","message":"too long","code":400}', expected: 400, message: 'too long' },
    { status: 422, text: '{"detail":[{"msg":"bad"}]}', expected: 422, message: '[{"msg":"bad"}]' },
    { status: 500, text: '{"error":{"message":"boom"}}', expected: 500, message: 'boom' },
    {
      status: 500,
      text: 'ValueError: Out of range float values are not JSON compliant',
      expected: 502,
      message: 'the engine failed',
    },
    { status: 503, text: 'down', expected: 503, message: 'down' },
    { status: 503, text: '{"message":"down","code":{"toString":1}}', expected: 503, message: 'down' },
    { status: 503, text: '', expected: 503, message: 'the engine answered 503' },
    { status: 400, text: '{"error":{}}', expected: 400, message: '{}' },
    ...[204, 299, 302, 999].map((status) => ({
      status,
      text: '{"error":{"message":"moved"}}',
      expected: 502,
      message: `the engine answered ${status}`,
    })),
  ])('D22 $status $text', ({ status, text, expected, message }) => {
    const response = engineErrorResponse(status, text);
    expect(response.status).toBe(expected);
    expect(JSON.parse(response.body)).toMatchObject({ error: { message } });
  });
  it.each([
    [401, 'server_error'],
    [403, 'server_error'],
    [429, 'rate_limit_error'],
    [404, 'invalid_request_error'],
    [503, 'server_error'],
  ])('type of a bare %i', (status, type) =>
    expect(JSON.parse(engineErrorResponse(status, '').body)).toMatchObject({ error: { type } }),
  );
  it.each([
    [{ code: 400 }, 400],
    [{ code: 401 }, 502],
    [{ code: 'x' }, 502],
    [{ code: { toString: 1, valueOf: 2 } }, 502],
    ['text', 502],
    [{ code: 200 }, 502],
  ])('status of a reported %j', (reported, status) => expect(reportedStatus(reported)).toBe(status));
});

describe('spooled operations', () => {
  const operation: Operation = { kind: 'end-session', id: 'i', sessionId: 's', detail: 'é' };
  it.each([null, Uint8Array.of(1, 2, 3)])('survive the disk with capture %j', (capture) => {
    expect(decodeOperation(encodeOperation(operation, capture))).toEqual({ operation, capture });
  });
  it('a cut one is refused', () => {
    const bytes = encodeOperation(operation, null);
    for (let end = 0; end < bytes.length; end++) expect(() => decodeOperation(bytes.slice(0, end))).toThrow(RangeError);
  });
});
