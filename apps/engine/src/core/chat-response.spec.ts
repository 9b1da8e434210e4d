import { parseChatRequest } from './chat-request';
import { chatCompletion, ChatChunks, type Choice } from './chat-response';
import type { TokenText } from './token-text';

const identity = { id: 'chatcmpl-1', created: 1, model: 'm' };
const tools = { dialect: 'marked' as const, newCallId: () => 'call-1' };
const request = parseChatRequest({
  messages: [{ role: 'user', content: 'add' }],
  tools: [{ type: 'function', function: { name: 'add' } }],
  logprobs: true,
  return_token_ids: true,
});
const answer = 'I add.\n<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>';
/** Every character is a token whose id is its code. */
const text = { tokenBytes: (id: number) => Buffer.of(id) } as unknown as TokenText;
const ids = [...answer].map((character) => character.charCodeAt(0));
const scores = ids.map((id) => ({ id, logProb: -id / 100, rank: 1, top: [] }));
const finish = { reason: 'stop', stopReason: null } as const;
const choice: Choice = { text: answer, ids, scores, finish, promptScores: null };
const call = { id: 'call-1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } };

/* eslint-disable @typescript-eslint/no-explicit-any -- a test reads any field of any answer */
const whole = (finished: Choice, reading: typeof tools | null): any =>
  (chatCompletion(identity, request, text, [1], [finished], reading) as any).choices[0];
const streamed = (reading: typeof tools | null, reason: 'stop' | 'length' = 'stop'): any[] => {
  const chunks = new ChatChunks(identity, request, text, [1], reading);
  return [...answer].map((character, i) => {
    const isLast = i === answer.length - 1;
    const step = {
      index: 0,
      id: ids[i]!,
      text: character,
      score: scores[i]!,
      finish: isLast ? { ...finish, reason } : null,
    };
    return (chunks.step(step, i + 1) as any).choices[0];
  });
};
/* eslint-enable */

it('gives calls as OpenAI does, and ids and log-probs of every sampled token', () => {
  const { message, finish_reason: reason, token_ids: given, logprobs } = whole(choice, tools);
  expect(message).toMatchObject({ content: 'I add.', tool_calls: [call] });
  expect(reason).toBe('tool_calls');
  expect(given).toEqual(ids);
  expect(logprobs.content.map(({ logprob }: { logprob: number }) => logprob)).toEqual(
    scores.map(({ logProb }) => logProb),
  );
});

it('gives no content where there are only calls, and says of a cut answer that it was cut', () => {
  const only = { ...choice, text: answer.slice(7) };
  expect(whole(only, tools).message).toMatchObject({ content: null, tool_calls: [call] });
  expect(whole({ ...choice, finish: { reason: 'length', stopReason: null } }, tools).finish_reason).toBe('length');
});

it('streams the same: a chunk for every token, its id and log-prob in it', () => {
  const choices = streamed(tools);
  expect(choices.flatMap(({ token_ids: given }) => given)).toEqual(ids);
  expect(choices.map(({ logprobs }) => logprobs.content[0].logprob)).toEqual(scores.map(({ logProb }) => logProb));
  expect(choices.map(({ delta }) => delta.content).join('')).toBe('I add.');
  expect(choices.flatMap(({ delta }) => delta.tool_calls ?? [])).toEqual([{ index: 0, ...call }]);
  expect(choices.map(({ finish_reason: reason }) => reason).filter(Boolean)).toEqual(['tool_calls']);
  expect(streamed(tools, 'length').at(-1).finish_reason).toBe('length');
});

it('leaves an answer as it is where no tool can be called', () => {
  expect(whole(choice, null)).toMatchObject({ message: { content: answer, tool_calls: [] }, finish_reason: 'stop' });
  expect(streamed(null).map(({ delta }) => delta)).toEqual([...answer].map((content) => ({ content })));
});
