import { readModelConfig, readModelWeights } from '@hindcast/language-model';
import { largestDifference, SEED_DIR, trainerLogProbs } from './testing/models';
import { post, postStream, startEngine, type RunningEngine } from './testing/running-engine';

let engine: RunningEngine;
let completions: string;
beforeAll(async () => {
  engine = await startEngine();
  completions = `${engine.url}/v1/completions`;
});
afterAll(() => engine.close());

const prompt = '<|bos|><|user|>What is rain?<|end|><|assistant|>';
const tokenize = async (text: string): Promise<number[]> =>
  (await post(`${engine.url}/tokenize`, { prompt: text })).body.tokens;

it('scores given ids as the teacher asks for it, with the trainer’s log-probs', async () => {
  const ids = [...(await tokenize(prompt)), ...(await tokenize('Rain is water that falls.'))];
  const { body } = await post(completions, {
    model: 'seed',
    prompt: ids,
    max_tokens: 1,
    temperature: 0,
    prompt_logprobs: 0,
    return_token_ids: true,
  });
  const [choice] = body.choices;
  expect(choice.prompt_token_ids).toEqual(ids);
  expect(choice.prompt_logprobs[0]).toBeNull();
  const entries: [string, { logprob: number }][] = choice.prompt_logprobs
    .slice(1)
    .flatMap((entry: Record<string, { logprob: number }>) => Object.entries(entry));
  expect(entries.map(([id]) => Number(id))).toEqual(ids.slice(1));
  const values = entries.map(([, { logprob }]) => logprob);
  const config = await readModelConfig(SEED_DIR);
  const weights = await readModelWeights(SEED_DIR, config);
  expect(largestDifference(values, await trainerLogProbs(config, weights, ids))).toBeLessThan(1e-4);
  expect(body.usage).toEqual({ prompt_tokens: ids.length, completion_tokens: 1, total_tokens: ids.length + 1 });
});

it('gives rank and text with the score, and as many likely tokens as asked', async () => {
  const [choice] = (await post(completions, { prompt, max_tokens: 0, prompt_logprobs: 2 })).body.choices;
  for (const entry of choice.prompt_logprobs.slice(1)) {
    const values = Object.values(entry) as { rank: number; logprob: number; decoded_token: string }[];
    expect([2, 3]).toContain(values.length);
    expect(values.map(({ rank }) => rank)).toEqual(expect.arrayContaining([1, 2]));
    expect(values.every(({ logprob, decoded_token: text }) => logprob <= 0 && text !== '')).toBe(true);
  }
  expect(choice).toMatchObject({ text: '', finish_reason: 'length', token_ids: null });
});

it('echoes a prompt with its log-probs without generating', async () => {
  const ids = await tokenize(prompt);
  const { body } = await post(completions, { prompt: ids, max_tokens: 0, echo: true, logprobs: 1 });
  const [choice] = body.choices;
  expect(choice.text).toBe(prompt);
  expect(choice.logprobs.tokens.join('')).toBe(prompt);
  expect(choice.logprobs.token_logprobs[0]).toBeNull();
  expect(choice.logprobs.token_logprobs).toHaveLength(ids.length);
  expect(choice.logprobs.text_offset[1]).toBe('<|bos|>'.length);
  expect(body.usage.completion_tokens).toBe(0);
});

it('continues an echo: prompt and answer in one list', async () => {
  const ids = await tokenize(prompt);
  const [choice] = (
    await post(completions, { prompt, max_tokens: 5, echo: true, logprobs: 0, seed: 1, return_token_ids: true })
  ).body.choices;
  const [alone] = (await post(completions, { prompt, max_tokens: 5, logprobs: 0, seed: 1 })).body.choices;
  expect(choice.text).toBe(prompt + alone.text);
  expect(choice.logprobs.token_logprobs.slice(ids.length)).toEqual(alone.logprobs.token_logprobs);
  expect(choice.logprobs.top_logprobs.at(-1)).toEqual(alone.logprobs.top_logprobs.at(-1));
  expect(Object.keys(alone.logprobs.top_logprobs[0])).toHaveLength(1);
  expect(choice.token_ids).toHaveLength(5);
});

it('takes a text, ids, and lists of them', async () => {
  const ids = await tokenize(prompt);
  const body = { max_tokens: 4, temperature: 0, n: 2 };
  const [text] = (await post(completions, { ...body, prompt })).body.choices;
  for (const list of [
    [prompt, 'A '],
    [ids, ids.slice(0, 5)],
  ]) {
    const { choices } = (await post(completions, { ...body, prompt: list })).body;
    expect(choices.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2, 3]);
    expect(choices[0].text).toBe(text.text);
    expect(choices[1].text).toBe(text.text);
    expect(choices[2].text).toBe(choices[3].text);
  }
  expect((await post(completions, { ...body, prompt: ids })).body.choices[0].text).toBe(text.text);
});

it('streams with ids, offsets and usage', async () => {
  const body = { prompt, max_tokens: 6, seed: 2, logprobs: 1, return_token_ids: true };
  const [whole] = (await post(completions, body)).body.choices;
  const events = await postStream(completions, { ...body, stream_options: { include_usage: true } });
  const usage = events.pop();
  const choices = events.map((event) => event.choices[0]);
  expect(choices[0].prompt_token_ids).toEqual(whole.prompt_token_ids);
  expect(choices.slice(1).every(({ prompt_token_ids: ids }) => ids === null)).toBe(true);
  expect(choices.flatMap(({ token_ids: ids }) => ids)).toEqual(whole.token_ids);
  expect(choices.map(({ text }) => text).join('')).toBe(whole.text);
  expect(choices.flatMap(({ logprobs }) => logprobs.text_offset)).toEqual(whole.logprobs.text_offset);
  expect(usage.usage.completion_tokens).toBe(choices.length);
});

it('scores a prompt of all positions and refuses one more', async () => {
  const ids = Array.from({ length: 512 }, (_, i) => 6 + ((i * 31) % 1000));
  const { body } = await post(completions, { prompt: ids, max_tokens: 0, prompt_logprobs: 0 });
  expect(body.choices[0].prompt_logprobs).toHaveLength(512);
  expect((await post(completions, { prompt: [...ids, 7], max_tokens: 0 })).status).toBe(400);
  expect((await post(completions, { prompt: ids, max_tokens: 1 })).status).toBe(400);
});

it.each([
  ['an id outside the vocabulary', { prompt: [5, 1024] }, 'Token id 1024 is out of vocabulary'],
  ['a negative id', { prompt: [-1] }, 'Token id -1 is out of vocabulary'],
  ['no prompt', {}, 'prompt'],
  ['a text that cannot fit', { prompt: 'word '.repeat(9_000) }, 'your request has at least'],
  ['an empty text', { prompt: '' }, 'The decoder prompt cannot be empty'],
  ['an empty list', { prompt: [] }, 'prompt'],
  ['a fraction as id', { prompt: [1.5] }, 'prompt'],
  ['words among ids', { prompt: [5, 'x'] }, 'prompt'],
  ['a suffix', { prompt, suffix: 'x' }, 'suffix is not currently supported'],
  ['prompt scores of a stream', { prompt, prompt_logprobs: 0, stream: true }, 'not available when `stream=True`'],
  ['too many log-probs', { prompt, logprobs: 21 }, 'greater than max allowed: 20'],
])('refuses %s', async (_, body, message) => {
  const answer = await post(completions, { max_tokens: 1, ...body });
  expect(answer.status).toBe(400);
  expect(answer.body.error).toMatchObject({ type: 'BadRequestError', code: 400 });
  expect(answer.body.error.message).toContain(message);
});

describe('tokenizer', () => {
  const messages = [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: [{ type: 'text', text: 'What is é😀?' }] },
  ];

  it('tokenizes a conversation to the ids that a chat reads', async () => {
    const { body } = await post(`${engine.url}/tokenize`, { messages, return_token_strs: true });
    const chat = await post(`${engine.url}/v1/chat/completions`, { messages, max_tokens: 1, return_token_ids: true });
    expect(body.tokens).toEqual(chat.body.prompt_token_ids);
    expect(body).toMatchObject({ count: body.tokens.length, max_model_len: 512 });
    expect(body.token_strs[0]).toBe('<|bos|>');
    const { body: text } = await post(`${engine.url}/detokenize`, { tokens: body.tokens });
    expect(text.prompt).toBe('<|bos|><|system|>Be kind.<|end|><|user|>What is é😀?<|end|><|assistant|>');
  });

  it('leaves the answer’s mark out, or continues the last message', async () => {
    const textOf = async (extra: object): Promise<string> => {
      const { body } = await post(`${engine.url}/tokenize`, {
        messages: [{ role: 'assistant', content: 'So' }],
        ...extra,
      });
      return (await post(`${engine.url}/detokenize`, { tokens: body.tokens })).body.prompt;
    };
    expect(await textOf({ add_generation_prompt: false })).toBe('<|bos|><|assistant|>So<|end|>');
    expect(await textOf({ add_generation_prompt: false, continue_final_message: true })).toBe('<|bos|><|assistant|>So');
  });

  it.each([
    ['/tokenize', {}],
    ['/tokenize', { prompt: 7 }],
    ['/tokenize', { messages, continue_final_message: true }],
    ['/tokenize', { messages, chat_template: '{{ x }}' }],
    ['/tokenize', { prompt: 'x'.repeat(200_000) }],
    ['/detokenize', { tokens: [1, 99999] }],
    ['/detokenize', { tokens: 'x' }],
  ])('%s refuses bad input (case %#)', async (path, body) => {
    expect((await post(engine.url + path, body)).status).toBe(400);
  });

  it('answers 404 for an unknown model', async () => {
    expect((await post(`${engine.url}/tokenize`, { prompt: 'x', model: 'other' })).status).toBe(404);
  });
});
