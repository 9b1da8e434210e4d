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

function client(dialect: 'vllm' | 'sglang', timeoutMs = 5_000): EngineClient {
  const { port } = server.address() as AddressInfo;
  return new EngineClient({ baseUrl: `http://127.0.0.1:${port}/v1`, dialect, apiKey: 'key', timeoutMs });
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
    { reply: { status: 500, body: 'out of memory' }, code: 'engine-invalid-response', message: /500: out of memory/ },
    { reply: 'hang' as const, code: 'engine-timeout', message: /no answer in 50 ms/ },
  ])('a failing load is an error that can be retried: $code', async ({ reply, code, message }) => {
    replies = [reply];
    await expect(client('vllm', 50).loadAdapter('x', '/p')).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });
  it('samples from exact ids at T = 1 and reads ids with their log-probs; −9999 is −∞ and null is no number', async () => {
    replies = [{ body: { choices: [{ token_ids: [7, 8, 9], logprobs: { token_logprobs: [-0.5, -9999, null] } }] } }];
    const answer = await client('vllm').sample({ adapter: 'x', promptIds: Int32Array.of(1, 2), maxTokens: 3, seed: 5 });
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
    const sampled = client('vllm').sample({ adapter: 'x', promptIds: [1], maxTokens: 2, seed: 0 });
    await expect(sampled).rejects.toThrow('2 token ids but 1 log-probs');
  });
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
    expect(await client('sglang').models()).toEqual(['seed', 'hindcast-v000001']);
  });
  it('D35: an update of the whole weights flushes the prefix cache, and a refused flush fails it', async () => {
    replies = [
      { body: { success: true, message: 'Succeeded to update model weights.', num_paused_requests: 0 } },
      { body: { success: false, message: 'flush cache failed: 3 requests are running' } },
    ];
    await client('sglang').updateWeights('/policies/v000001', 1);
    expect(calls[0]).toMatchObject({
      url: '/update_weights_from_disk',
      body: { model_path: '/policies/v000001', flush_cache: true, weight_version: '1' },
    });
    await expect(client('sglang').updateWeights('/policies/v000002', 2)).rejects.toThrow(/flush cache failed/);
    await expect(client('vllm').updateWeights('/policies/v000002', 2)).rejects.toThrow(/TUNING=lora/);
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
    const answer = await client('sglang').sample({ adapter: 'x', promptIds: [1, 2], maxTokens: 2, seed: 5 });
    expect(answer).toEqual({ ids: Int32Array.of(7, 8), logProbs: [-0.5, -1] });
    expect(calls[0]).toMatchObject({
      url: '/generate',
      body: { input_ids: [1, 2], lora_path: 'x', return_logprob: true },
    });
  });
});

it('an engine that is not there is named', async () => {
  const gone = new EngineClient({
    baseUrl: 'http://127.0.0.1:9/v1',
    dialect: 'vllm',
    apiKey: undefined,
    timeoutMs: 1_000,
  });
  await expect(gone.models()).rejects.toMatchObject({ code: 'engine-unreachable' });
});
