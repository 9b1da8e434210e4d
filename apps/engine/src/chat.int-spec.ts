import { mulberry32, readModelConfig, readModelWeights, sampleToken } from '@hindcast/language-model';
import OpenAI from 'openai';
import { ForwardPass } from './forward-pass';
import { largestDifference, SEED_DIR, trainerLogProbs } from './testing/models';
import { post, postStream, startEngine, type RunningEngine } from './testing/running-engine';

let engine: RunningEngine;
let chat: string;
beforeAll(async () => {
  engine = await startEngine();
  chat = `${engine.url}/v1/chat/completions`;
});
afterAll(() => engine.close());

const messages = [{ role: 'user' as const, content: 'What is rain?' }];
const asked = { model: 'seed', messages, logprobs: true, return_token_ids: true };

type LogProb = { token: string; logprob: number; bytes: number[]; top_logprobs: { logprob: number }[] };

it('answers the official client, with ids and the trainer’s log-probs of what it sampled', async () => {
  const client = new OpenAI({ baseURL: `${engine.url}/v1`, apiKey: 'none' });
  const completion = await client.chat.completions.create({
    model: 'seed',
    messages,
    max_tokens: 24,
    seed: 7,
    logprobs: true,
    top_logprobs: 3,
    ...{ return_token_ids: true },
  });
  const answer = completion as unknown as { prompt_token_ids: number[]; choices: { token_ids: number[] }[] };
  const [choice] = completion.choices;
  const ids = answer.choices[0]!.token_ids;
  const logProbs = choice!.logprobs!.content!.map(({ logprob }) => logprob);
  expect(completion.usage).toMatchObject({
    prompt_tokens: answer.prompt_token_ids.length,
    completion_tokens: ids.length,
  });
  expect(choice!.logprobs!.content!.every(({ top_logprobs: top }) => top.length === 3)).toBe(true);
  const all = [...answer.prompt_token_ids, ...ids];
  const config = await readModelConfig(SEED_DIR);
  const trainer = await trainerLogProbs(config, await readModelWeights(SEED_DIR, config), all);
  expect(largestDifference(logProbs, trainer.slice(answer.prompt_token_ids.length - 1))).toBeLessThan(1e-4);
  const bytes = choice!.logprobs!.content!.flatMap(({ bytes }) => bytes ?? []);
  expect(Buffer.from(bytes).toString()).toBe(choice!.message.content);
});

it('streams each token as its own chunk, and the same answer as in one piece', async () => {
  const body = { ...asked, max_tokens: 40, seed: 11, temperature: 0.9, top_p: 0.95 };
  const whole = (await post(chat, body)).body;
  const chunks = await postStream(chat, { ...body, stream_options: { include_usage: true } });
  const [first, ...rest] = chunks;
  const usage = rest.pop();
  expect(first.choices).toEqual([
    { index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null },
  ]);
  expect(first.prompt_token_ids).toEqual(whole.prompt_token_ids);
  const choices = rest.map((chunk) => chunk.choices[0]);
  expect(choices.every(({ token_ids: ids }) => ids.length === 1)).toBe(true);
  expect(choices.flatMap(({ token_ids: ids }) => ids)).toEqual(whole.choices[0].token_ids);
  expect(choices.map(({ delta }) => delta.content).join('')).toBe(whole.choices[0].message.content);
  const streamed = choices.flatMap(({ logprobs }) => logprobs.content.map(({ logprob }: LogProb) => logprob));
  const inOnePiece = whole.choices[0].logprobs.content.map(({ logprob }: LogProb) => logprob);
  expect(largestDifference(streamed, inOnePiece)).toBeLessThan(1e-5);
  expect(choices.map(({ finish_reason: reason }) => reason)).toEqual([
    ...Array(choices.length - 1).fill(null),
    whole.choices[0].finish_reason,
  ]);
  expect(usage).toMatchObject({ choices: [], usage: { completion_tokens: choices.length } });
});

it('draws an answer that an outside program can draw again from its seed', async () => {
  const sampling = { temperature: 0.8, top_p: 0.9, top_k: 50 };
  const config = await readModelConfig(SEED_DIR);
  const forward = await ForwardPass.create(config, await readModelWeights(SEED_DIR, config), 1);
  for (const options of [{}, sampling]) {
    const { body } = await post(chat, { ...asked, ...options, seed: 1234567, max_tokens: 30 });
    const uniform = mulberry32(1234567);
    const cache = forward.newCache();
    cache.addRow();
    let logProbs = await forward.run(cache, body.prompt_token_ids, 'last');
    for (const id of body.choices[0].token_ids) {
      const { temperature, top_p: topP, top_k: topK } = { temperature: 1, top_p: 1, top_k: 0, ...options };
      expect(sampleToken(logProbs, { temperature, topP, topK }, uniform).id).toBe(id);
      logProbs = await forward.run(cache, [id], 'last');
    }
  }
  await forward.release();
});

it('gives the same answers alone and among others', async () => {
  const bodies = Array.from({ length: 20 }, (_, i) => ({
    ...asked,
    messages: [{ role: 'user', content: `${'Please. '.repeat(i % 5)}What is number ${i}?` }],
    seed: i,
    max_tokens: 10 + i,
    ignore_eos: true,
  }));
  const together = await Promise.all(bodies.map((body) => post(chat, body)));
  for (const [i, body] of bodies.entries()) {
    const alone = await post(chat, body);
    expect(together[i]!.body.choices[0].token_ids).toEqual(alone.body.choices[0].token_ids);
    expect(
      largestDifference(
        together[i]!.body.choices[0].logprobs.content.map(({ logprob }: LogProb) => logprob),
        alone.body.choices[0].logprobs.content.map(({ logprob }: LogProb) => logprob),
      ),
    ).toBeLessThan(1e-4);
  }
});

it('ends a turn with the end token among the ids and log-probs, but not in the text', async () => {
  const { body } = await post(chat, { ...asked, temperature: 0 });
  const [choice] = body.choices;
  expect(choice).toMatchObject({ finish_reason: 'stop', stop_reason: null });
  expect(choice.token_ids.at(-1)).toBe(4);
  expect(choice.logprobs.content.at(-1).token).toBe('<|end|>');
  expect(choice.message.content).not.toContain('<|end|>');
  const kept = await post(chat, {
    ...asked,
    temperature: 0,
    skip_special_tokens: false,
    include_stop_str_in_output: true,
  });
  expect(kept.body.choices[0].message.content).toBe(`${choice.message.content}<|end|>`);
});

it.each([false, true])('cuts the text before a stop string, the ids behind it (stream: %s)', async (stream) => {
  const plain = (await post(chat, { ...asked, seed: 3, max_tokens: 60, ignore_eos: true })).body.choices[0];
  const text: string = plain.message.content;
  const stop = text.slice(20, 26);
  const body = { ...asked, seed: 3, max_tokens: 60, ignore_eos: true, stop: ['never seen', stop] };
  let answer: { text: string; ids: number[]; finish: unknown; stopReason: unknown };
  if (stream) {
    const choices = (await postStream(chat, body)).slice(1).map((chunk) => chunk.choices[0]);
    answer = {
      text: choices.map(({ delta }) => delta.content).join(''),
      ids: choices.flatMap(({ token_ids: ids }) => ids),
      finish: choices.at(-1).finish_reason,
      stopReason: choices.at(-1).stop_reason,
    };
  } else {
    const [choice] = (await post(chat, body)).body.choices;
    answer = {
      text: choice.message.content,
      ids: choice.token_ids,
      finish: choice.finish_reason,
      stopReason: choice.stop_reason,
    };
  }
  expect(answer.text).toBe(text.slice(0, text.indexOf(stop)));
  expect(answer.ids).toEqual(plain.token_ids.slice(0, answer.ids.length));
  expect(answer).toMatchObject({ finish: 'stop', stopReason: stop });
});

it('gives several choices with seeds one apart, streamed or not', async () => {
  const body = { ...asked, n: 3, seed: 40, max_tokens: 12 };
  const { choices } = (await post(chat, body)).body;
  expect(choices.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2]);
  const second = (await post(chat, { ...body, n: 1, seed: 41 })).body.choices[0];
  expect(choices[1].token_ids).toEqual(second.token_ids);
  const chunks = (await postStream(chat, body)).flatMap((chunk) => chunk.choices);
  for (const { index, token_ids: ids } of choices)
    expect(chunks.filter((chunk) => chunk.index === index).flatMap((chunk) => chunk.token_ids ?? [])).toEqual(ids);
});

it('scores the prompt of a conversation on request', async () => {
  const { body } = await post(chat, { ...asked, max_tokens: 1, prompt_logprobs: 1 });
  expect(body.prompt_logprobs).toHaveLength(body.prompt_token_ids.length);
  expect(body.prompt_logprobs[0]).toBeNull();
  expect(Object.keys(body.prompt_logprobs[3])).toContain(String(body.prompt_token_ids[3]));
});

it('stops working for a client that is gone', async () => {
  const controller = new AbortController();
  const gauge = async (name: string): Promise<number> => {
    const text = await (await fetch(`${engine.url}/metrics`)).text();
    return Number(new RegExp(`^vllm:${name}\\{[^}]*\\} (.+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  };
  const before = await gauge('generation_tokens_total');
  const response = await fetch(chat, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...asked, n: 12, stream: true, ignore_eos: true }),
    signal: controller.signal,
  });
  await response.body!.getReader().read();
  controller.abort();
  while ((await gauge('num_requests_running')) + (await gauge('num_requests_waiting')) > 0);
  expect((await gauge('generation_tokens_total')) - before).toBeLessThan(12 * 400);
});

describe('refusals', () => {
  const long = 'word '.repeat(600);
  const cases: [string, object | string, number, object][] = [
    ['no messages', { model: 'seed' }, 400, { type: 'BadRequestError', param: 'messages' }],
    ['empty messages', { messages: [] }, 400, { param: 'messages' }],
    ['messages of another type', { messages: 'hello' }, 400, { param: 'messages' }],
    ['a message without a role', { messages: [{ content: 'x' }] }, 400, { param: 'messages.0.role' }],
    [
      'an image',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
      400,
      { message: 'This engine reads text only; a content part has the type image_url.' },
    ],
    [
      'an unknown model',
      { messages, model: 'gpt-9' },
      404,
      { type: 'NotFoundError', code: 404, message: 'The model `gpt-9` does not exist.' },
    ],
    ['a word as temperature', { messages, temperature: 'hot' }, 400, { param: 'temperature' }],
    [
      'a negative temperature',
      { messages, temperature: -1 },
      400,
      { message: 'temperature must be non-negative, got -1.' },
    ],
    ['top_p 0', { messages, top_p: 0 }, 400, { message: 'top_p must be in (0, 1], got 0.' }],
    ['n 0', { messages, n: 0 }, 400, { param: 'n' }],
    ['max_tokens 0', { messages, max_tokens: 0 }, 400, { message: 'max_tokens must be at least 1, got 0.' }],
    ['too many log-probs', { messages, logprobs: true, top_logprobs: 21 }, 400, { param: 'top_logprobs' }],
    ['top_logprobs alone', { messages, top_logprobs: 2 }, 400, { param: 'top_logprobs' }],
    ['a penalty it does not have', { messages, presence_penalty: 1 }, 400, { param: 'presence_penalty' }],
    ['a forced tool', { messages, tool_choice: 'required' }, 400, { param: 'tool_choice' }],
    ['an empty stop string', { messages, stop: '' }, 400, { param: 'stop' }],
    [
      'a conversation that is too long',
      { messages: [{ role: 'user', content: long }] },
      400,
      {
        message: expect.stringContaining(
          "This model's maximum context length is 512 tokens. However, your request has",
        ),
      },
    ],
    [
      'more tokens than fit',
      { messages, max_tokens: 600 },
      400,
      { message: expect.stringContaining("'max_tokens' or 'max_completion_tokens' is too large: 600.") },
    ],
    ['no JSON', '{"messages": [', 400, {}],
    ['a list', [], 400, {}],
    ['nothing', 'null', 400, {}],
  ];
  it.each(cases)('%s', async (_, body, status, error) => {
    for (const extra of [{}, { stream: true }]) {
      const sent = typeof body === 'string' || Array.isArray(body) ? body : { ...body, ...extra };
      const answer = await post(chat, sent);
      expect(answer.status).toBe(status);
      expect(answer.body.error).toMatchObject(error);
    }
    expect((await post(chat, { messages, max_tokens: 1 })).status).toBe(200);
  });

  it('a body that is too large', async () => {
    const answer = await post(chat, { messages: [{ role: 'user', content: 'x'.repeat(17 * 2 ** 20) }] });
    expect(answer.status).toBe(413);
    expect(answer.body.error.message).toBeTruthy();
  });
});

it('refuses tool arguments that are nested too deep to read', async () => {
  const args = '['.repeat(20_000) + ']'.repeat(20_000);
  const calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: args } }];
  const { status, body } = await post(chat, {
    ...asked,
    messages: [
      ...messages,
      { role: 'assistant', tool_calls: calls },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
    ],
  });
  expect([status, body.error.message]).toEqual([400, 'The messages are nested too deeply.']);
});
