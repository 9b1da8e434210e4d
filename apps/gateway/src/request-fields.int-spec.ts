import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine } from './testing/fake-engine';
import { startTestGateway, type RunningGateway } from './testing/gateway-harness';

type Json = Record<string, unknown>;

const tool = {
  type: 'function',
  function: {
    name: 'read',
    description: 'Liest.',
    strict: true,
    parameters: { type: 'object', properties: { path: { type: 'string', enum: ['é', '北'] } }, required: ['path'] },
  },
};
const schema = { name: 'x', strict: true, schema: { type: 'object', additionalProperties: false } };

/** Chat completions as documented by OpenAI, and as openai-node 6.49 declares them. */
const openAiFields: Json = {
  audio: { voice: 'alloy', format: 'wav' },
  frequency_penalty: 0.5,
  function_call: { name: 'read' },
  functions: [{ name: 'read', parameters: {} }],
  logit_bias: { '50256': -100, '7': 1.5 },
  max_completion_tokens: 64,
  max_tokens: 64,
  metadata: { run: 'a', 'key with space': '' },
  modalities: ['text', 'audio'],
  moderation: { model: 'omni' },
  n: 2,
  parallel_tool_calls: false,
  prediction: { type: 'content', content: [{ type: 'text', text: 'x' }] },
  presence_penalty: -0.25,
  prompt_cache_key: 'k',
  prompt_cache_options: { ttl: 5 },
  prompt_cache_retention: '24h',
  reasoning_effort: 'xhigh',
  response_format: { type: 'json_schema', json_schema: schema },
  safety_identifier: 'user-1',
  seed: 7,
  service_tier: 'flex',
  stop: ['\n\n', 'END'],
  store: false,
  temperature: 0.3,
  tool_choice: { type: 'function', function: { name: 'read' } },
  tools: [tool, { type: 'custom', custom: { name: 'sh', format: { type: 'text' } } }],
  top_logprobs: 3,
  top_p: 0.9,
  user: 'u',
  verbosity: 'low',
  web_search_options: { search_context_size: 'low', user_location: { type: 'approximate', approximate: {} } },
};

/** What vLLM 0.33 takes beyond them. */
const vllmFields: Json = {
  add_generation_prompt: false,
  add_special_tokens: true,
  allowed_token_ids: [1, 2],
  bad_words: ['x'],
  cache_salt: 'salt',
  chat_template: '{{ messages }}',
  chat_template_kwargs: { enable_thinking: false, nested: { a: [1, null, 'é'] } },
  continue_final_message: true,
  documents: [{ title: 't', text: 'd' }],
  echo: true,
  ec_transfer_params: { a: 1 },
  ignore_eos: true,
  include_reasoning: false,
  include_stop_str_in_output: true,
  kv_transfer_params: { do_remote_decode: true },
  length_penalty: 0.8,
  logprob_token_ids: [3],
  media_io_kwargs: { video: { num_frames: 4 } },
  min_p: 0.1,
  min_tokens: 3,
  mm_payload: 'x',
  mm_processor_kwargs: { fps: 2 },
  priority: 3,
  prompt_logprobs: 1,
  repetition_detection: { max_pattern_size: 4 },
  repetition_penalty: 1.1,
  request_id: 'r',
  return_mm_kwargs: false,
  return_prompt_text: true,
  return_token_ids: true,
  return_token_offsets: true,
  return_tokens_as_token_ids: true,
  return_weight_versions: true,
  routed_experts_prompt_start: 1,
  skip_special_tokens: false,
  spaces_between_special_tokens: false,
  stop_token_ids: [2],
  stream_interval: 4,
  structured_outputs: { regex: 'a+' },
  thinking_token_budget: 100,
  top_k: 20,
  truncate_prompt_tokens: 100,
  truncation_side: 'left',
  use_beam_search: true,
  vllm_xargs: { a: [1, 'b'] },
  watermarking: true,
};

/** What SGLang 0.5.23 takes beyond them. */
const sglangFields: Json = {
  cache_salt: ['a'],
  custom_logit_processor: '{"callable":""}',
  custom_params: { a: 1 },
  data_parallel_rank: 0,
  ebnf: 'root ::= "a"',
  extra_key: 'k',
  images_config: { max_num: 1 },
  input_ids: [1, 2, 3],
  lora_path: 'adapter',
  max_dynamic_patch: 6,
  min_dynamic_patch: 1,
  no_stop_trim: true,
  reasoning: { effort: 'high', enabled: true },
  regex: '[a-z]+',
  return_cached_tokens_details: true,
  return_flat_raw_output_top_logprobs: true,
  return_flat_raw_top_logprobs_b64: false,
  return_hidden_states: 'last',
  return_input_ids_in_sglext: true,
  return_meta_info: true,
  return_output_ids_in_sglext: true,
  return_prompt_token_ids: true,
  return_routed_experts: true,
  return_sampling_mask: true,
  return_spec_tokens_details: true,
  rid: 'r',
  routed_experts_start_len: 2,
  sampling_logprobs_mode: 'support',
  separate_reasoning: false,
  session_params: { id: 's' },
  stop_regex: ['a+'],
  stream_reasoning: false,
  task: 'query',
  thinking: { type: 'adaptive' },
  use_audio_in_video: true,
  video_config: { fps: 1 },
  watermark: { enabled: true },
};

const unknownFields: Json = {
  'x-of-tomorrow': { deep: [[[{ a: null, '': '\u0000\ud83c\udf89' }]]] },
  nothing: null,
  empty: {},
  __proto: 1e-7,
};

/** One message of each role and of each kind of content. */
const messages = [
  { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }], name: 'dev' },
  { role: 'system', content: 'You are 北.' },
  {
    role: 'user',
    name: 'ann',
    content: [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: 'https://example.org/a.png', detail: 'high' } },
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,', filename: 'a.pdf' } },
      { type: 'video_url', video_url: { url: 'https://example.org/a.mp4' } },
      { type: 'of-tomorrow', anything: [1] },
    ],
  },
  {
    role: 'assistant',
    content: null,
    refusal: null,
    reasoning_content: 'hm',
    audio: { id: 'audio_1' },
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{ "path": "é" }' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'data' }] },
  {
    role: 'assistant',
    content: [{ type: 'refusal', refusal: 'No.' }],
    function_call: { name: 'read', arguments: '{}' },
  },
  { role: 'function', name: 'read', content: 'data' },
  { role: 'user', content: 'And now?' },
];

describe.each(['vllm', 'sglang', 'openai'] as const)('request fields on their way to %s', (dialect) => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateway: RunningGateway;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    engine.script = (call) => engine.answer({ ...call, body: { ...call.body, logprobs: true } }, answerOf('fine'));
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, POLICY_DIALECT: dialect });
  });
  afterAll(async () => {
    await gateway.stop();
    await engine.stop();
    await nats.stop();
  });

  async function sentFor(body: Json, headers: Record<string, string> = {}): Promise<Json> {
    engine.calls.length = 0;
    const response = await gateway.chat(body, headers);
    await response.text();
    expect(response.status).toBe(200);
    return engine.calls[0]!.body;
  }

  const fields = Object.entries({ ...openAiFields, ...vllmFields, ...sglangFields, ...unknownFields });
  it.each(fields.map(([field, value]) => ({ field, value })))(
    '$field reaches the engine as it is',
    async ({ field, value }) => {
      for (const stream of [false, true]) {
        const body = { model: 'seed', messages, stream, [field]: value };
        const sent = await sentFor(body);
        expect(sent).toMatchObject({ model: 'seed', messages, stream });
        expect(sent[field]).toEqual(value);
        // A side request gets nothing added.
        expect(await sentFor(body, { 'x-turn-type': 'side' })).toEqual(body);
      }
    },
  );

  it('all of them at once, with nothing else than what docs/engine-calls.md names', async () => {
    const all = Object.fromEntries(fields);
    const sent = await sentFor({ model: 'seed', messages, ...all });
    expect(sent).toEqual({ ...all, model: 'seed', messages, logprobs: true });
    const bare = await sentFor({ messages });
    const ids = {
      vllm: ['return_token_ids'],
      sglang: ['return_input_ids_in_sglext', 'return_output_ids_in_sglext', 'return_token_ids'],
      openai: [],
    }[dialect];
    const plain = dialect === 'openai' ? [] : ['top_k', 'min_p', 'repetition_penalty'];
    expect(Object.keys(bare).sort()).toEqual(
      ['messages', 'model', 'logprobs', 'temperature', 'top_p', ...ids, ...plain].sort(),
    );
  });

  it.each([
    { given: { include_usage: false }, sent: { include_usage: true } },
    { given: { include_usage: true, continuous_usage_stats: true, include_obfuscation: false } },
    { given: { include_obfuscation: true }, sent: { include_obfuscation: true, include_usage: true } },
    { given: null, sent: { include_usage: true } },
  ])('stream_options $given', async ({ given, sent }) => {
    const body = await sentFor({ messages, stream: true, stream_options: given });
    expect(body['stream_options']).toEqual(sent ?? given);
  });

  it('whole numbers beyond 2^53 arrive as they were written', async () => {
    engine.calls.length = 0;
    const seed = '"seed":9223372036854775807';
    const limit = '"tools":[{"type":"function","function":{"name":"f","parameters":{"maximum":9007199254740993}}}]';
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"messages":${JSON.stringify(messages)},${seed},${limit}}`,
    });
    expect(response.status).toBe(200);
    await response.text();
    expect(engine.calls[0]!.text).toContain(seed);
    expect(engine.calls[0]!.text).toContain(limit);
    expect(engine.calls[0]!.body).toMatchObject({ messages, logprobs: true });
  });

  it('the fields of our own stop here', async () => {
    const own = { session_id: 's', session_done: true, turn_type: 'main' };
    expect(Object.keys(await sentFor({ messages, ...own }))).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(session_id|session_done|turn_type)$/)]),
    );
  });

  it('logprobs that a client declines are asked for all the same, and kept from it', async () => {
    engine.calls.length = 0;
    const response = await gateway.chat({ messages, logprobs: false });
    expect(await response.text()).not.toContain('"logprob"');
    expect(engine.calls[0]!.body['logprobs']).toBe(true);
  });
});
