import { writeFloat, type EngineWire, type FakeAnswer } from './engine-wire';
import { sglangWire } from './fake-sglang';
import { vllmWire } from './fake-vllm';

/**
 * What the servers' own serializers give for the same values: the response classes of vLLM 0.33.0 under pydantic 2.14 and
 * Starlette, and those of SGLang 0.5.23 under pydantic 2.14, msgspec 0.23 and orjson.
 */
const answer: FakeAnswer = {
  promptIds: [1, 2, 3],
  stopReason: 2,
  tokens: [
    { text: 'Hé', id: 5, logProb: -1.1920928955078125e-7 },
    { text: '</s>', id: 2, logProb: -9999, delta: { content: '' } },
  ],
};
const calling: FakeAnswer = {
  promptIds: [1],
  tokens: [
    { text: 't', id: 4, logProb: -0.5, delta: { reasoning: 'think' } },
    { text: '<tool_call>', id: 6, logProb: -0.25, delta: null },
    { text: 'f', id: 7, logProb: -1, delta: { toolCalls: [{ index: 0, id: 'call_1', name: 'f', arguments: '' }] } },
    { text: '{"a', id: 8, logProb: -2, delta: { toolCalls: [{ index: 0, arguments: '{"a' }] } },
    { text: '":1}', id: 9, logProb: -3, delta: { toolCalls: [{ index: 0, arguments: '":1}' }] } },
    { text: '</s>', id: 2, logProb: -4, delta: null },
  ],
};
const asking = {
  model: 'seed',
  stream: true,
  logprobs: true,
  return_token_ids: true,
  stream_options: { include_usage: true },
};
const dataOf = (events: readonly string[]): string[] =>
  events.map((event) => {
    expect(event).toMatch(/^data: .*\n\n$/);
    return event.slice('data: '.length, -2);
  });

describe('vLLM’s bytes', () => {
  const head = '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"seed","choices":[';
  const wire: EngineWire = vllmWire;

  it('of a stream with everything asked for', () => {
    expect(dataOf(wire.events(asking, answer, 'chatcmpl-1'))).toEqual([
      `${head}{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":[1,2,3],"prompt_text":null}`,
      `${head}{"index":0,"delta":{"content":"Hé"},"logprobs":{"content":[{"token":"Hé","logprob":-1.1920928955078125e-7,"bytes":[72,195,169],"top_logprobs":[]}]},"finish_reason":null,"token_ids":[5]}],"kv_transfer_params":null}`,
      `${head}{"index":0,"delta":{"content":""},"logprobs":{"content":[{"token":"</s>","logprob":-9999.0,"bytes":[60,47,115,62],"top_logprobs":[]}]},"finish_reason":"stop","stop_reason":2,"token_ids":[2],"weight_versions":null}],"kv_transfer_params":null}`,
      `${head}],"usage":{"prompt_tokens":3,"total_tokens":5,"completion_tokens":2},"system_fingerprint":"vllm-0.33.0-tp1-fake"}`,
      '[DONE]',
    ]);
  });

  it('of a stream with nothing asked for: nulls where the code set them, no chunk for a control token', () => {
    const lines = dataOf(wire.events({ model: 'seed', stream: true }, calling, 'chatcmpl-1'));
    expect(lines).toEqual([
      `${head}{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null,"prompt_text":null}`,
      `${head}{"index":0,"delta":{"reasoning":"think"},"logprobs":null,"finish_reason":null,"token_ids":null}],"kv_transfer_params":null}`,
      `${head}{"index":0,"delta":{"tool_calls":[{"id":"call_1","type":"function","index":0,"function":{"name":"f","arguments":""}}]},"logprobs":null,"finish_reason":null,"token_ids":null}],"kv_transfer_params":null}`,
      `${head}{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"a"}}]},"logprobs":null,"finish_reason":null,"token_ids":null}],"kv_transfer_params":null}`,
      `${head}{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\\":1}"}}]},"logprobs":null,"finish_reason":null,"token_ids":null}],"kv_transfer_params":null}`,
      `${head}{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls","stop_reason":null,"token_ids":null,"weight_versions":null}],"system_fingerprint":"vllm-0.33.0-tp1-fake","kv_transfer_params":null}`,
      '[DONE]',
    ]);
    expect(dataOf(wire.events(asking, calling, 'x'))[2]).toContain(
      '"delta":{},"logprobs":{"content":[{"token":"<tool_call>"',
    );
  });

  it('of a whole answer', () => {
    expect(
      wire.write(wire.whole({ model: 'seed', logprobs: true, return_token_ids: true }, answer, 'chatcmpl-1')),
    ).toBe(
      '{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"seed","choices":[{"index":0,"message":{"role":"assistant","content":"Hé","refusal":null,"annotations":null,"audio":null,"function_call":null,"reasoning":null},"logprobs":{"content":[{"token":"Hé","logprob":-1.1920928955078125e-07,"bytes":[72,195,169],"top_logprobs":[]},{"token":"</s>","logprob":-9999.0,"bytes":[60,47,115,62],"top_logprobs":[]}]},"finish_reason":"stop","stop_reason":2,"token_ids":[5,2],"routed_experts":null,"weight_versions":null}],"service_tier":null,"system_fingerprint":"vllm-0.33.0-tp1-fake","usage":{"prompt_tokens":3,"total_tokens":5,"completion_tokens":2,"prompt_tokens_details":null,"completion_tokens_details":null},"prompt_logprobs":null,"prompt_token_ids":[1,2,3],"prompt_text":null,"kv_transfer_params":null,"ec_transfer_params":null,"metrics":null}',
    );
    expect(wire.write(wire.whole({ model: 'seed' }, calling, 'chatcmpl-1'))).toContain(
      '"message":{"role":"assistant","content":null,"refusal":null,"annotations":null,"audio":null,"function_call":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\\"a\\":1}"}}],"reasoning":"think"},"logprobs":null,"finish_reason":"tool_calls","stop_reason":null,"token_ids":null,',
    );
  });

  it('of errors, before and in a stream', () => {
    expect(wire.error(404, 'The model `x` does not exist.').body).toBe(
      '{"error":{"message":"The model `x` does not exist.","type":"NotFoundError","param":null,"code":404}}',
    );
    expect(wire.brokenStream(500, 'Internal server error')).toEqual([
      'data: {"error":{"message":"Internal server error","type":"InternalServerError","param":null,"code":500}}\n\n',
      'data: [DONE]\n\n',
    ]);
    expect(wire.refusal({ top_logprobs: 3 })?.status).toBe(400);
  });
});

describe('SGLang’s bytes', () => {
  const head = '{"id":"9b1c","object":"chat.completion.chunk","created":1,"model":"seed","choices":[';
  const wire = sglangWire();
  const tools = [{ type: 'function', function: { name: 'f' } }];
  const ids = { return_input_ids_in_sglext: true, return_output_ids_in_sglext: true };
  const { return_token_ids: _, ...streaming } = { ...asking, ...ids };

  it('of a stream with everything asked for', () => {
    expect(dataOf(wire.events(streaming, answer, '9b1c'))).toEqual([
      `${head}{"index":0,"delta":{"reasoning_content":null,"role":"assistant","content":""},"logprobs":null,"finish_reason":null,"matched_stop":null}]}`,
      `${head}{"index":0,"delta":{"reasoning_content":null,"content":"Hé"},"logprobs":{"content":[{"token":"Hé","bytes":[72,195,169],"logprob":-1.1920928955078125e-7,"top_logprobs":[]}]},"finish_reason":null,"matched_stop":null}]}`,
      `${head}{"index":0,"delta":{"reasoning_content":null},"logprobs":{"content":[{"token":"</s>","bytes":[60,47,115,62],"logprob":-9999.0,"top_logprobs":[]}]},"finish_reason":null,"matched_stop":null}]}`,
      `${head}{"index":0,"delta":{"reasoning_content":null},"logprobs":null,"finish_reason":"stop","matched_stop":2}]}`,
      `${head}],"usage":null,"sglext":{"input_ids":[1,2,3],"output_ids":[[5,2]]}}`,
      `${head}],"usage":{"prompt_tokens":3,"total_tokens":5,"completion_tokens":2,"prompt_tokens_details":null,"reasoning_tokens":0,"completion_tokens_details":null}}`,
      '[DONE]',
    ]);
  });

  it('of a stream of tool calls, with nothing asked for: pydantic’s nulls', () => {
    expect(dataOf(wire.events({ model: 'seed', stream: true, tools }, calling, '9b1c')).slice(1)).toEqual([
      `${head}{"index":0,"delta":{"reasoning_content":"think"},"logprobs":null,"finish_reason":null,"matched_stop":null}]}`,
      `${head}{"index":0,"delta":{"role":null,"content":null,"reasoning_content":null,"tool_calls":[{"id":"call_1","index":0,"type":"function","function":{"name":"f","arguments":""}}]},"logprobs":null,"finish_reason":null,"matched_stop":null}],"usage":null}`,
      `${head}{"index":0,"delta":{"role":null,"content":null,"reasoning_content":null,"tool_calls":[{"id":null,"index":0,"type":"function","function":{"name":null,"arguments":"{\\"a"}}]},"logprobs":null,"finish_reason":null,"matched_stop":null}],"usage":null}`,
      `${head}{"index":0,"delta":{"role":null,"content":null,"reasoning_content":null,"tool_calls":[{"id":null,"index":0,"type":"function","function":{"name":null,"arguments":"\\":1}"}}]},"logprobs":null,"finish_reason":null,"matched_stop":null}],"usage":null}`,
      `${head}{"index":0,"delta":{"reasoning_content":null},"logprobs":null,"finish_reason":"tool_calls","matched_stop":null}]}`,
      '[DONE]',
    ]);
  });

  it('of a whole answer', () => {
    const request = { model: 'seed', logprobs: true, return_token_ids: true, ...ids };
    expect(wire.write(wire.whole(request, answer, '9b1c'))).toBe(
      '{"id":"9b1c","object":"chat.completion","created":1,"model":"seed","choices":[{"index":0,"message":{"role":"assistant","content":"Hé","reasoning_content":null},"logprobs":{"content":[{"token":"Hé","bytes":[72,195,169],"logprob":-1.1920928955078125e-7,"top_logprobs":[]},{"token":"</s>","bytes":[60,47,115,62],"logprob":-9999.0,"top_logprobs":[]}]},"finish_reason":"stop","matched_stop":2,"prompt_token_ids":[1,2,3],"response_token_ids":[5,2]}],"usage":{"prompt_tokens":3,"total_tokens":5,"completion_tokens":2,"prompt_tokens_details":null,"reasoning_tokens":0,"completion_tokens_details":null},"metadata":{"weight_version":"default"},"sglext":{"input_ids":[1,2,3],"output_ids":[[5,2]]}}',
    );
    expect(wire.write(wire.whole({ model: 'seed' }, calling, '9b1c'))).toContain(
      '"message":{"role":"assistant","content":"","reasoning_content":"think","tool_calls":[{"id":"call_1","index":0,"type":"function","function":{"name":"f","arguments":"{\\"a\\":1}"}}]},"logprobs":null,"finish_reason":"tool_calls","matched_stop":null}],"usage"',
    );
  });

  it('of errors, before and in a stream', () => {
    expect(wire.error(400, 'no').body).toBe(
      '{"object":"error","message":"no","type":"BadRequestError","param":null,"code":400}',
    );
    expect(wire.brokenStream(400, 'hé')).toEqual([
      'data: {"error": {"object": "error", "message": "h\\u00e9", "type": "BadRequestError", "param": null, "code": 400}}\n\n',
      'data: [DONE]\n\n',
    ]);
    for (const field of ['return_token_ids', 'return_prompt_token_ids', 'return_meta_info']) {
      expect(wire.refusal({ stream: true, [field]: true })).toMatchObject({ status: 400 });
      expect(wire.refusal({ [field]: true })).toBeNull();
    }
  });
});

it.each([
  [-0, '-0.0', '-0.0'],
  [-2, '-2.0', '-2.0'],
  [-12.5, '-12.5', '-12.5'],
  [-9.9e-5, '-0.000099', '-9.9e-05'],
  [-1e-5, '-0.00001', '-1e-05'],
  [-9.9e-6, '-9.9e-6', '-9.9e-06'],
  [-1.2e-7, '-1.2e-7', '-1.2e-07'],
  [-1.25e-40, '-1.25e-40', '-1.25e-40'],
])('%d is written %s by Rust’s writers, %s by Python', (value, rust, python) => {
  expect([writeFloat(value, 'rust'), writeFloat(value, 'python')]).toEqual([rust, python]);
});
