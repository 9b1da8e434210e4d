import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Log } from '@hindcast/platform';
import { until } from '../../../libs/platform/src/testing/until';
import { refuse, reply } from './testing/fake-judge';
import { asksForHint, JudgeBench, pairedTurn } from './testing/judge-bench';

let bench: JudgeBench;
beforeAll(async () => {
  bench = await JudgeBench.open();
});
afterAll(() => bench.close());
afterEach(() => bench.reset());

const open = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
};
const every = (ms: number, response: ServerResponse, write: () => void): void => {
  const timer = setInterval(write, ms);
  response.on('close', () => clearInterval(timer));
};

/** Judges that keep a vote waiting to its deadline, which is short here. */
it.each<[string, (response: ServerResponse) => void]>([
  ['never answers', () => undefined],
  ['sends headers and then nothing', open],
  [
    'sends headers and then spaces for ever',
    (response) => {
      open(response);
      every(20, response, () => response.write(' '));
    },
  ],
  [
    'streams garbage for ever',
    (response) => {
      open(response);
      every(20, response, () => response.write(Buffer.from([0xff, 0x00, 0x7b, 0xc3])));
    },
  ],
  [
    'keeps an event stream open that nobody asked for',
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      every(20, response, () => response.write('data: {"choices":[{"delta":{"content":"\\\\boxed{1}"}}]}\n\n'));
    },
  ],
])('D56: a judge that %s costs the votes, not the turn', async (_name, answer) => {
  await bench.start((_call, _n, response) => answer(response), {
    VOTE_TIMEOUT_MS: '400',
    EVAL_VOTES: '2',
    HINT_VOTES: '1',
  });
  const { body } = await bench.judged();
  expect(body).toMatchObject({ evalScore: 0, hint: null, rewardSource: 'votes' });
  expect([...body.evalVotes, ...body.hintVotes].map((vote) => vote.abstained)).toEqual(Array(3).fill('timeout'));
});

/** Judges that fail, each time they are asked. */
it.each<[string, (response: ServerResponse) => void]>([
  ['answers 500', (response) => refuse(response, 500)],
  ['refuses the key', (response) => refuse(response, 401)],
  ['is overloaded', (response) => refuse(response, 429)],
  ['hangs up', (response) => response.socket!.destroy()],
  [
    'hangs up in the middle of its reply',
    (response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"choices":[', () => response.socket!.destroy());
    },
  ],
])('D56: a judge that %s costs the votes, not the turn', async (_name, answer) => {
  await bench.start((_call, _n, response) => answer(response), { EVAL_VOTES: '2', HINT_VOTES: '1' });
  const { body } = await bench.judgedAfterFailures(3);
  expect(body).toMatchObject({ evalScore: 0, hint: null, rewardSource: 'votes' });
  expect([...body.evalVotes, ...body.hintVotes].map((vote) => vote.abstained)).toEqual(Array(3).fill('error'));
});

it('D56: a judge that takes the connection and reads nothing costs the votes, not the turn', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.pause();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await bench.start(() => undefined, {
    VOTE_TIMEOUT_MS: '300',
    EVAL_VOTES: '1',
    HINT_VOTES: '1',
    JUDGE_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
  });
  expect((await bench.judged()).body.evalVotes[0]!.abstained).toBe('timeout');
  for (const socket of sockets) socket.destroy();
  server.close();
});

it('a judge that is not there costs the votes, not the turn', async () => {
  const nobody = { JUDGE_BASE_URL: 'http://127.0.0.1:9/v1', EVAL_VOTES: '1', HINT_VOTES: '0' };
  await bench.start(() => undefined, nobody);
  expect((await bench.judgedAfterFailures(1)).body.evalVotes[0]!.abstained).toBe('error');
});

const oneVote = { EVAL_VOTES: '1', HINT_VOTES: '0' };

it('what the deadline cuts off when it has just begun is not what the vote was lost by', async () => {
  await bench.start((_call, n, response) => {
    if (n === 1) refuse(response, 503, { 'retry-after': '2' });
    else bench.clocks.strike();
  }, oneVote);
  expect((await bench.judged()).body.evalVotes[0]!.abstained).toBe('error');
});

it('a judge that fails and then keeps the vote waiting for most of its time takes too long', async () => {
  await bench.start((_call, n, response) => (n === 1 ? refuse(response, 503) : undefined), oneVote);
  const published = performance.now();
  const turnId = await bench.publish();
  await until(() => bench.judge.calls.length === 2);
  await sleep(performance.now() - published + 10);
  bench.clocks.strike();
  await until(() => bench.count === 1);
  expect(bench.of(turnId)!.body.evalVotes[0]!.abstained).toBe('timeout');
});

// The deadline is far beyond this test's limit: what is decided here was decided without it.
const html = '<html><body>Bad gateway \\boxed{1}</body></html>';
it.each<[string, (response: ServerResponse) => void]>([
  ['a page', (response) => response.end(html)],
  ['broken JSON', (response) => response.end('{"choices":[{"message":{"content":"\\\\boxed{1}"}')],
  ['JSON of another kind', (response) => response.end('[1,2,3]')],
  ['an error under status 200', (response) => response.end('{"error":{"message":"\\\\boxed{1}"}}')],
  ['no choice', (response) => response.end('{"choices":[]}')],
  ['a number for content', (response) => reply(response, 1)],
  [
    'an event stream',
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"choices":[{"delta":{"content":"\\\\boxed{1}"}}]}\n\ndata: [DONE]\n\n');
    },
  ],
  ['bytes', (response) => response.end(Buffer.from([0xff, 0xfe, 0x00, 0x5c]))],
  ['nothing', (response) => response.end()],
])('a judge that answers with %s is asked three times, as it may cost something each time', async (_name, answer) => {
  await bench.start((_call, _n, response) => answer(response), { EVAL_VOTES: '1', HINT_VOTES: '0' });
  const { body } = await bench.judged();
  expect(body.evalVotes).toMatchObject([{ score: null, abstained: 'error', raw: '' }]);
  expect(bench.judge.calls).toHaveLength(3);
});

it('a reply without end is given up at its bound', async () => {
  let closed = 0;
  await bench.start(
    (_call, _n, response) => {
      response.on('close', () => closed++);
      open(response);
      const chunk = Buffer.alloc(256 * 1024, 0x20);
      const more = (): void => {
        while (!response.closed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    },
    { EVAL_VOTES: '1', HINT_VOTES: '0' },
  );
  const { body } = await bench.judged();
  expect(body.evalVotes).toMatchObject([{ score: null, abstained: 'error' }]);
  expect([bench.judge.calls.length, closed]).toEqual([1, 1]);
});

const german = 'Die Antwort war falsch, der Nutzer hat sich beschwert.';
const chinese = '用户要求不要使用粗体，因此回答没有满足需求。';
const arabic = 'طلب المستخدم عدم استخدام الخط العريض، لذلك فشل الرد.';
it.each<[string, unknown, score: number | null]>([
  ['English prose', 'I would say it went well.', null],
  ['German prose', german, null],
  ['Chinese prose', chinese, null],
  ['Arabic prose', arabic, null],
  ['German prose and a box', `${german} \\boxed{-1}`, -1],
  ['Chinese prose and a box', `${chinese}\\boxed{-1}。`, -1],
  ['Arabic prose and a box', `${arabic} \\boxed{-1}`, -1],
  ['a full-width digit in the box', `${chinese}\\boxed{１}`, null],
  ['null', null, null],
  [
    'parts of text',
    [
      { type: 'text', text: 'It failed. \\boxed' },
      { type: 'text', text: '{-1}' },
    ],
    -1,
  ],
  ['parts without text', [{ type: 'image_url', image_url: { url: 'data:,' } }], null],
  ['thinking and then a box', '<think>\\boxed{1}? no.</think>\\boxed{-1}', -1],
  ['the end of a thinking that the template began', 'maybe \\boxed{1}</think>\\boxed{-1}', -1],
  ['a thinking that never ends', '<think>maybe \\boxed{1}', null],
  ['a thinking that is all there is', '<think>\\boxed{1}</think>', null],
])('reads %s', async (_name, content, score) => {
  await bench.start((_call, _n, response) => reply(response, content), { EVAL_VOTES: '1', HINT_VOTES: '0' });
  const { body } = await bench.judged();
  expect(body.evalVotes).toMatchObject([{ score, abstained: score === null ? 'unreadable' : null }]);
  expect(body.evalScore).toBe(score ?? 0);
  expect(bench.judge.calls).toHaveLength(1);
});

it('what a model thought, in a field of its own, is no vote', async () => {
  const thought = { reasoning_content: '\\boxed{1}', reasoning: '\\boxed{1}' };
  await bench.start(
    (call, _n, response) => reply(response, asksForHint(call) ? null : '\\boxed{-1}', { message: thought }),
    { EVAL_VOTES: '1', HINT_VOTES: '1' },
  );
  const { body } = await bench.judged();
  expect(body.evalScore).toBe(-1);
  expect(body.hintVotes).toMatchObject([{ score: null, abstained: 'unreadable', raw: '' }]);
});

it('D56: votes of a turn that came are enough, whatever became of the others', async () => {
  const before = bench.clocks.decided;
  await bench.start((_call, n, response) => (n === 2 ? reply(response, '\\boxed{-1}') : undefined), {
    EVAL_VOTES: '3',
    HINT_VOTES: '0',
  });
  const turnId = await bench.publish();
  await until(() => bench.clocks.decided === before + 1 && bench.judge.calls.length === 3);
  bench.clocks.strike();
  await until(() => bench.count === 1);
  const { body } = bench.of(turnId)!;
  expect(body.evalScore).toBe(-1);
  expect(body.evalVotes.map((vote) => vote.abstained).sort()).toEqual([null, 'timeout', 'timeout']);
});

it('a service that shuts down gives its turns back instead of deciding them without votes', async () => {
  await bench.start(() => undefined, { EVAL_VOTES: '1', HINT_VOTES: '0' });
  const turnId = await bench.publish();
  while (bench.judge.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await bench.services.pop()!.close();
  await bench.judge.stop();
  expect(bench.count).toBe(0);
  // Another one judges the turn.
  await bench.start((_call, _n, response) => reply(response, '\\boxed{1}'), { EVAL_VOTES: '1', HINT_VOTES: '0' });
  while (bench.count === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(bench.of(turnId)?.body.evalScore).toBe(1);
});

it('says in its logs what happened, and nothing that anybody wrote', async () => {
  const lines: unknown[] = [];
  const levels = (['info', 'warn', 'error'] as const).map((level) =>
    jest.spyOn(Log.prototype, level).mockImplementation((...line) => void lines.push(line)),
  );
  const said = 'PRIVATE';
  await bench.start((_call, n, response) =>
    n % 2 ? refuse(response, 500, {}, said) : reply(response, `${said} \\boxed{1}`),
  );
  const message = { role: 'user', text: said, toolName: null } as const;
  await bench.judged(pairedTurn({ answer: said, conversation: [message], nextState: [message] }));
  const logged = inspect(lines, { depth: 20 });
  for (const level of levels) level.mockRestore();
  expect(logged).toContain('turn.judged');
  expect(logged).not.toContain(said);
  expect(logged).not.toContain('judge-key');
});
