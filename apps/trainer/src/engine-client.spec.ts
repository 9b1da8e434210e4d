import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EngineClient } from './engine-client';

interface Call {
  readonly url: string;
  readonly body: unknown;
  readonly authorization: string | undefined;
}
type Reply = { readonly status?: number; readonly body: unknown } | 'hang';

let server: Server;
const calls: Call[] = [];
let replies: Reply[] = [];

function client(dialect: 'vllm' | 'sglang', timeoutMs = 600_000): EngineClient {
  const { port } = server.address() as AddressInfo;
  return new EngineClient({
    baseUrl: `http://127.0.0.1:${port}/v1`,
    dialect,
    apiKey: 'key',
    timeoutMs,
    updateTimeoutMs: timeoutMs,
  });
}

beforeAll(async () => {
  server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const text = Buffer.concat(pieces).toString();
      calls.push({
        url: request.url!,
        body: text ? JSON.parse(text) : null,
        authorization: request.headers.authorization,
      });
      const reply = replies.shift() ?? { body: {} };
      if (reply === 'hang') return;
      response.writeHead(reply.status ?? 200);
      response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(() => {
  calls.length = 0;
  replies = [];
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

describe('vllm', () => {
  it('D31: loads under a new name, never in place', async () => {
    replies = [{ body: "Success: LoRA adapter 'x' added successfully." }];
    await client('vllm').loadAdapter('x', '/policies/v000001');
    expect(calls).toEqual([
      {
        url: '/v1/load_lora_adapter',
        body: { lora_name: 'x', lora_path: '/policies/v000001' },
        authorization: 'Bearer key',
      },
    ]);
  });
  it('takes "already loaded" for loaded and "cannot be found" for unloaded', async () => {
    replies = [
      { status: 400, body: { message: "The lora adapter 'x' has already been loaded." } },
      { status: 404, body: { message: "The lora adapter 'x' cannot be found." } },
    ];
    await client('vllm').loadAdapter('x', '/p');
    await client('vllm').unloadAdapter('x');
  });
  it.each([
    {
      reply: { status: 500, body: 'out of memory' },
      timeoutMs: 600_000,
      code: 'engine-invalid-response',
      message: /500: out of memory/,
    },
    { reply: 'hang' as const, timeoutMs: 400, code: 'engine-timeout', message: /no answer in 400 ms/ },
  ])('a failing load is an error that can be retried: $code', async ({ reply, timeoutMs, code, message }) => {
    replies = [reply];
    await expect(client('vllm', timeoutMs).loadAdapter('x', '/p')).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });
  it('samples from exact ids at T = 1 and reads ids with their log-probs; −9999 is −∞ and null is no number', async () => {
    replies = [{ body: { choices: [{ token_ids: [7, 8, 9], logprobs: { token_logprobs: [-0.5, -9999, null] } }] } }];
    const answer = await client('vllm').sample({ model: 'x', promptIds: Int32Array.of(1, 2), maxTokens: 3, seed: 5 });
    expect(answer).toEqual({ ids: Int32Array.of(7, 8, 9), logProbs: [-0.5, -Infinity, NaN] });
    expect(calls[0]!.body).toMatchObject({
      model: 'x',
      prompt: [1, 2],
      max_tokens: 3,
      temperature: 1,
      top_p: 1,
      seed: 5,
    });
  });
  it('refuses an answer with fewer log-probs than ids', async () => {
    replies = [{ body: { choices: [{ token_ids: [7, 8], logprobs: { token_logprobs: [-0.5] } }] } }];
    const sampled = client('vllm').sample({ model: 'x', promptIds: [1], maxTokens: 2, seed: 0 });
    await expect(sampled).rejects.toThrow('2 token ids but 1 log-probs');
  });
});

describe('the whole weights of vllm', () => {
  it('are replaced while it is paused: answers under way end first, the cache is emptied, the label is set', async () => {
    replies = [
      { body: { status: 'paused' } },
      { body: { results: [null] } },
      { body: '' },
      { body: { success: true } },
    ];
    await client('vllm').weights.replace('/policies/v000001', 'hindcast-v000001@7');
    expect(calls.map(({ url, body }) => [url, body])).toEqual([
      ['/pause?mode=wait&clear_cache=true', {}],
      ['/collective_rpc', { method: 'reload_weights', kwargs: { weights_path: '/policies/v000001' } }],
      ['/reset_prefix_cache', {}],
      ['/update_weight_version', { new_version: 'hindcast-v000001@7' }],
      ['/resume', {}],
    ]);
    expect(new Set(calls.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer key']));
  });
  it.each([
    {
      what: 'a pause that fails',
      answers: [{ status: 500, body: 'no' }],
      urls: ['/pause?mode=wait&clear_cache=true', '/resume'],
      why: 'the old weights go on',
    },
    {
      what: 'a reload that fails',
      answers: [{ body: {} }, { status: 500, body: 'no such file' }],
      urls: ['/pause?mode=wait&clear_cache=true', '/collective_rpc', '/update_weight_version'],
      why: 'half a model must not answer',
    },
    {
      what: 'D35 a refused flush',
      answers: [{ body: {} }, { body: { results: [null] } }, { body: { success: false } }],
      urls: ['/pause?mode=wait&clear_cache=true', '/collective_rpc', '/reset_prefix_cache', '/update_weight_version'],
      why: 'new weights must not read an old cache',
    },
  ])('$what fails the update: $why', async ({ answers, urls }) => {
    replies = answers;
    await expect(client('vllm').weights.replace('/p', 'hindcast-v000001@7')).rejects.toMatchObject({
      code: 'engine-invalid-response',
    });
    expect(calls.map(({ url }) => url)).toEqual(urls);
    const labels = calls.filter(({ url }) => url === '/update_weight_version').map(({ body }) => body);
    expect(labels.every((body) => (body as { new_version: string }).new_version === 'hindcast-unknown')).toBe(true);
  });
  it.each([
    {
      replies: [{ body: { is_paused: false } }, { body: { weight_version: 'hindcast-v000001@7' } }],
      label: 'hindcast-v000001@7',
    },
    { replies: [{ body: { is_paused: false } }, { body: { weight_version: 'default' } }], label: 'default' },
    { replies: [{ body: { is_paused: false } }, { body: { weight_version: null } }], label: null },
    { replies: [{ body: { is_paused: true } }], label: 'hindcast-unknown' },
  ])('their label is $label; while it is paused an update may have broken off', async ({ replies: answers, label }) => {
    replies = answers;
    expect(await client('vllm').weights.label()).toBe(label);
  });
});

it('loads whole weights by name into the engine that has them side by side', async () => {
  replies = [
    {
      body: {
        data: [
          { id: 'seed', loads_weights: true },
          { id: 'hindcast-v000001', parent: 'seed' },
        ],
      },
    },
    { body: 'Success' },
    { body: 'Success' },
  ];
  const engine = client('vllm');
  expect(await engine.models()).toEqual({ names: ['seed', 'hindcast-v000001'], base: 'seed', namesWeights: true });
  await engine.loadWeights('hindcast-v000002', '/p/v000002');
  await engine.unloadWeights('hindcast-v000001');
  expect(calls.slice(1).map(({ url, body }) => [url, body])).toEqual([
    ['/v1/load_weights', { name: 'hindcast-v000002', path: '/p/v000002' }],
    ['/v1/unload_weights', { name: 'hindcast-v000001' }],
  ]);
});

describe('sglang', () => {
  it('makes its own calls without /v1, and reads success from the body', async () => {
    replies = [{ body: { success: true } }, { body: { success: false, error_message: 'rank too large' } }];
    await client('sglang').loadAdapter('x', '/p');
    await expect(client('sglang').loadAdapter('y', '/p')).rejects.toThrow('rank too large');
    expect(calls.map(({ url }) => url)).toEqual(['/load_lora_adapter', '/load_lora_adapter']);
  });
  it('lists adapters by their own name', async () => {
    replies = [{ body: { data: [{ id: 'seed' }, { id: 'seed:hindcast-v000001' }] } }];
    expect(await client('sglang').models()).toEqual({
      names: ['seed', 'hindcast-v000001'],
      base: 'seed',
      namesWeights: false,
    });
  });
  it('D35: an update of the whole weights flushes the prefix cache, and a refused flush fails it', async () => {
    replies = [
      { body: { success: true, message: 'Succeeded to update model weights.', num_paused_requests: 0 } },
      { status: 400, body: { success: false, message: 'flush cache failed: 3 requests are running' } },
    ];
    const { weights } = client('sglang');
    await weights.replace('/policies/v000001', 'hindcast-v000001@7');
    expect(calls[0]).toMatchObject({
      url: '/update_weights_from_disk',
      body: { model_path: '/policies/v000001', flush_cache: true, weight_version: 'hindcast-v000001@7' },
    });
    await expect(weights.replace('/policies/v000002', 'hindcast-v000002@8')).rejects.toThrow(/flush cache failed/);
    // Nobody can say which weights answer now, so no answer may count as a version's.
    expect(calls[2]).toMatchObject({ url: '/update_weight_version', body: { new_version: 'hindcast-unknown' } });
  });
  it.each([
    { server: 'a new server', replies: [{ body: { weight_version: 'default' } }], urls: ['/model_info'] },
    {
      server: 'an older one',
      replies: [{ status: 404, body: '{"detail":"Not Found"}' }, { body: { weight_version: 'default' } }],
      urls: ['/model_info', '/get_model_info'],
    },
  ])('asks $server what its weights are labelled', async ({ replies: answers, urls }) => {
    replies = answers;
    expect(await client('sglang').weights.label()).toBe('default');
    expect(calls.map(({ url }) => url)).toEqual(urls);
  });
  it('samples through /generate', async () => {
    replies = [
      {
        body: {
          meta_info: {
            output_token_logprobs: [
              [-0.5, 7, null],
              [-1, 8, null],
            ],
          },
        },
      },
    ];
    const answer = await client('sglang').sample({ model: 'x', promptIds: [1, 2], maxTokens: 2, seed: 5 });
    expect(answer).toEqual({ ids: Int32Array.of(7, 8), logProbs: [-0.5, -1] });
    expect(calls[0]).toMatchObject({
      url: '/generate',
      body: { input_ids: [1, 2], lora_path: 'x', return_logprob: true },
    });
  });
});

it('the key is sent with every call, and is in no error, although the engine quotes it', async () => {
  replies = [{ status: 401, body: { error: { message: 'no such key: key-of-the-engine' } } }];
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const options = {
    dialect: 'vllm',
    apiKey: 'key-of-the-engine',
    timeoutMs: 600_000,
    updateTimeoutMs: 600_000,
  } as const;
  const failed: unknown = await new EngineClient({ ...options, baseUrl }).models().catch((error: unknown) => error);
  expect(calls[0]!.authorization).toBe('Bearer key-of-the-engine');
  expect(failed).toMatchObject({ code: 'engine-invalid-response', message: expect.stringContaining('401') });
  expect(String((failed as Error).stack)).not.toContain('key-of-the-engine');
});

it('an engine that is not there is named', async () => {
  const gone = new EngineClient({
    baseUrl: 'http://127.0.0.1:9/v1',
    dialect: 'vllm',
    apiKey: undefined,
    timeoutMs: 600_000,
    updateTimeoutMs: 600_000,
  });
  await expect(gone.models()).rejects.toMatchObject({ code: 'engine-unreachable' });
});
