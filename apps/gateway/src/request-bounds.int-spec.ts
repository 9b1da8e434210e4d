import type { ServerResponse } from 'node:http';
import { reusedMemory, type Lease } from '@hindcast/platform';
import { answerOf, FakeEngine } from './testing/fake-engine';
import { dataOf, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

const MARK = '\ufeff';

describe('what clients and engines may send', () => {
  let engine: FakeEngine;
  let gateway: RunningGateway;
  beforeAll(async () => {
    engine = await FakeEngine.start();
    gateway = await startTestGateway({ NATS_URL: 'nats://127.0.0.1:1', POLICY_BASE_URL: engine.url });
  });
  afterAll(async () => {
    await gateway.stop();
    await engine.stop();
  });
  beforeEach(() => {
    engine.calls.length = 0;
    engine.script = (call) => engine.answer(call, answerOf('fine'));
  });
  const post = (path: string, body: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body,
    });
  const schema =
    '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"prototype":{"x":1}}},"__proto__":{"a":1}}';
  const messages = '[{"role":"user","content":"hi"}]';

  it.each([
    {
      path: 'chat/completions',
      body: `{"messages":${messages},"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]}`,
    },
    {
      path: 'messages',
      body: `{"max_tokens":9,"messages":${messages},"tools":[{"name":"f","input_schema":${schema}}]}`,
    },
    {
      path: 'responses',
      body: `{"input":${messages},"tools":[{"type":"function","name":"f","parameters":${schema}}]}`,
    },
  ])('hands a schema with names of a prototype on as it is: $path', async ({ path, body }) => {
    const response = await post(path, body);
    expect(response.status).toBe(200);
    await response.text();
    expect(engine.calls[0]!.text).toContain(`"parameters":${schema}`);
    expect('a' in {} || 'x' in {}).toBe(false);
  });

  it.each([
    { path: 'chat/completions', body: { messages: [{ role: 'user', content: 'x'.repeat(100_000) }] } },
    { path: 'messages', body: { max_tokens: 9, messages: [{ role: 'user', content: 'x'.repeat(100_000) }] } },
    { path: 'responses', body: { input: 'x'.repeat(100_000) } },
  ])('gives the memory of a request back once nobody reads it: $path', async ({ path, body }) => {
    const lease = jest.spyOn(reusedMemory, 'lease');
    const response = await post(path, JSON.stringify(body));
    expect(response.status).toBe(200);
    await response.text();
    // The first that was taken holds the request. What is given back is overwritten here.
    const { bytes } = lease.mock.results[0]!.value as Lease;
    lease.mockRestore();
    await eventually(() => Promise.resolve(bytes.every((byte) => byte === 0xaa)));
  });

  it.each(['chat/completions', 'messages', 'responses'])(
    'reads an answer after a byte-order mark: %s',
    async (path) => {
      const choice = {
        index: 0,
        message: { role: 'assistant', content: 'fine' },
        token_ids: [1],
        finish_reason: 'stop',
      };
      engine.script = ({ response }) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(`${MARK}${JSON.stringify({ id: 'c', model: 'seed', choices: [choice] })}`);
      };
      const body = path === 'responses' ? `{"input":${messages}}` : `{"max_tokens":9,"messages":${messages}}`;
      const response = await post(path, body);
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('fine')]);
    },
  );

  it.each(['chat/completions', 'messages', 'responses', 'completions'])(
    'reads a refusal after a byte-order mark, which goes: %s',
    async (path) => {
      const error = { message: 'too long', type: 'invalid_request_error', code: 'context', param: 'messages' };
      engine.script = ({ response }) => {
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(`${MARK}${JSON.stringify({ error })}`);
      };
      const body = path === 'responses' ? `{"input":${messages}}` : `{"max_tokens":9,"messages":${messages}}`;
      const response = await post(path, body);
      const bytes = Buffer.from(await response.arrayBuffer());
      expect([response.status, bytes.includes(MARK)]).toEqual([400, false]);
      const said = JSON.parse(bytes.toString()) as { error: object };
      expect(said.error).toMatchObject(path === 'messages' ? { message: 'too long' } : error);
    },
  );

  it('reads a stream after a byte-order mark, which stays', async () => {
    engine.script = (call) => {
      call.response.writeHead(200, { 'content-type': 'text/event-stream' });
      call.response.end(
        `${MARK}data: {"choices":[{"index":0,"delta":{"content":"fine"},"token_ids":[1],"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`,
      );
    };
    const response = await gateway.chat({ stream: true, messages: userSays('hi') });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.toString().startsWith(`${MARK}data: {`)).toBe(true);
    expect(bytes.toString()).not.toContain('token_ids');
    expect(dataOf(bytes.toString().slice(1))).toHaveLength(2);
  });

  it.each(['chat/completions', 'completions'])('reads no answer without bounds: %s', async (path) => {
    engine.script = async (call) => {
      call.response.writeHead(200, { 'content-type': 'application/json' });
      const piece = Buffer.alloc(1024 * 1024, ' ');
      while (!call.response.closed) if (!call.response.write(piece)) await drained(call.response);
    };
    const response = await post(path, `{"messages":${messages},"prompt":"x"}`);
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { code: 'engine-invalid-response' } });
    await engine.calls[0]!.aborted;
  });

  it('keeps no events without data without bounds', async () => {
    engine.script = async (call) => {
      call.response.writeHead(200, { 'content-type': 'text/event-stream' });
      const piece = Buffer.from('id: 1\n\n'.repeat(1000));
      while (!call.response.closed) if (!call.response.write(piece)) await drained(call.response);
    };
    const response = await gateway.chat({ stream: true, messages: userSays('hi') });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { code: 'engine-invalid-response' } });
    await engine.calls[0]!.aborted;
  });
});

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go).off('close', go);
      resolve();
    };
    response.on('drain', go).on('close', go);
  });
