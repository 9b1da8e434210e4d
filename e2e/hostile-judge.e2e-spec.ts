import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import type { Stack } from '../apps/simulator/src/stack/stack';
import { endTemporaryStack, startTemporaryStack, turnStory } from './stack';

const completion = (content: string): string =>
  JSON.stringify({
    id: 'vote',
    object: 'chat.completion',
    created: 1,
    model: 'judge',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 },
  });

/** What a judge may do to a request. */
const manners: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'never answers': () => undefined,
  'answers 500': (response) => void response.writeHead(500).end('down'),
  'answers prose': (response) => void response.end(completion('A fine answer, I would say, all things considered.')),
  'answers in three languages': (response) =>
    void response.end(completion('Die Antwort ist gut. La réponse est bonne. 答案很好。')),
  'streams garbage': (response) => {
    const pour = setInterval(() => response.write('\u0000{"choices":[{]}data: \ufffd'), 20);
    response.on('close', () => clearInterval(pour));
  },
};

// A judge has the whole stack's turns in its hands, and none of its chats.
describe('a stack whose judge gives no vote', () => {
  let stack: Stack;
  let judge: Server;
  let manner: (response: ServerResponse) => void;

  beforeAll(async () => {
    judge = createServer((request, response) => {
      request.resume().on('end', () => manner(response));
    }).listen(0, '127.0.0.1');
    await once(judge, 'listening');
    stack = await startTemporaryStack({
      judgeBaseUrl: `http://127.0.0.1:${(judge.address() as AddressInfo).port}/v1`,
      settings: { ACK_WAIT_SECONDS: '3', VOTE_TIMEOUT_MS: '1000' },
    });
  });
  afterAll(async () => {
    await endTemporaryStack(stack);
    judge.closeAllConnections();
    judge.close();
  });

  it.each(Object.keys(manners))('%s: its turn is decided by the rule, and chats go on', async (name) => {
    manner = manners[name]!;
    const client = new OpenAI({ baseURL: `${stack.gatewayUrl}/v1`, apiKey: 'none', maxRetries: 0 });
    const headers = { 'X-Session-Id': `hostile ${name}` };
    const question = { role: 'user', content: 'What is a planet?' } as const;
    const ask = (messages: OpenAI.ChatCompletionMessageParam[]) =>
      client.chat.completions.create({ model: 'hindcast', messages, max_tokens: 200 }, { headers });
    const first = await ask([question]);
    const next = await ask([question, first.choices[0]!.message, { role: 'user', content: 'Thanks.' }]);
    expect(next.choices[0]!.message.content).not.toBe('');
    const story = await decided(stack, first.id);
    expect(story).toMatchObject({ case: 'drop', reason: 'no-signal', evalScore: 0, rewardSource: 'votes' });
  });
});

/** The story of a turn that is over; the test's own limit ends the wait. */
async function decided(stack: Stack, id: string): Promise<Record<string, unknown>> {
  for (;;) {
    const story = await turnStory(stack, id).catch(() => null);
    if (story?.['state'] === 'decided') return story;
    await sleep(50);
  }
}
