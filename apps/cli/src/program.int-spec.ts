import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../libs/platform/src/testing/nats-server';
import { hindcast, hindcastHere, type Ran } from './testing/command';
import { refused, startFixtureGateway, streamed, type FixtureGateway } from './testing/fixture-gateway';
import { overview, shownTurn, turn, TURN_ID } from './testing/shown';

let gateway: FixtureGateway;
let folder: string;
beforeAll(async () => {
  gateway = await startFixtureGateway();
  folder = mkdtempSync(join(tmpdir(), 'hindcast-cli-'));
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  gateway.calls.length = 0;
  gateway.routes.clear();
});

const run = (...args: string[]): Promise<Ran> => hindcastHere(args, { HINDCAST_URL: gateway.url });

it('says what it does not know, and ends with 2', async () => {
  expect(await run('nonsense')).toMatchObject({ code: 2, said: expect.stringContaining("unknown command 'nonsense'") });
  expect(await run('turns', 'list', '--limit', '0')).toMatchObject({ code: 2 });
  expect(await run('status', '--gateway', 'nowhere')).toMatchObject({
    code: 2,
    said: expect.stringContaining('HINDCAST_URL'),
  });
});

it.each([
  'up',
  'demo',
  'chat',
  'status',
  'turns',
  'feedback',
  'policy',
  'deadletters',
  'replay',
  'export',
  'forget',
  'simulate',
  'doctor',
])('lists %s', async (name) => {
  const { code, printed } = await run('--help');
  expect(code).toBe(0);
  expect(printed).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
});

it('a gateway that does not answer is 1, with what to do', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { code, said } = await run('status', '--gateway', url);
  expect(code).toBe(1);
  expect(said).toContain(`the gateway at ${url} does not answer (ECONNREFUSED); start it (npx hindcast up)`);
});

it('a web page in place of a gateway is 1, and called no JSON', async () => {
  gateway.routes.set('GET /admin/v1/turns', () => (response) => void response.end('<html></html>'));
  const { code, printed, said } = await hindcastHere(['turns', 'list', '--gateway', gateway.url]);
  expect({ code, printed }).toEqual({ code: 1, printed: '' });
  expect(said).toContain('(no JSON)');
});

it('shows the loop in words, or as the gateway gave it', async () => {
  gateway.routes.set('GET /admin/v1/overview', () => ({ json: overview }));
  const { code, printed } = await run('status');
  expect(code).toBe(0);
  expect(printed).toContain('version 2 (hindcast-v000002)');
  expect(printed).toContain('3 of 4 samples');
  expect(printed).toContain('3 no-signal');
  expect(printed).toContain('2 for judge-svc--rl-v1-turn-paired');
  expect(printed).not.toContain('\u001b');
  expect(JSON.parse((await run('status', '--json')).printed)).toEqual(overview);
});

it('takes a gateway by a client’s base URL, of a newer version too, and keeps the key out of its words', async () => {
  gateway.routes.set('GET /admin/v1/overview', ({ headers }) =>
    headers.authorization === 'Bearer sk-1'
      ? { json: { ...overview, ledger: { ...overview.ledger, later: 1 } } }
      : refused(401, 'unauthorized', 'no such key'),
  );
  const file = join(folder, 'key');
  writeFileSync(file, 'sk-1\n');
  expect(await run('status', '--gateway', `${gateway.url}/v1/`, '--key-file', file)).toMatchObject({ code: 0 });
  const wrong = await hindcastHere(['status'], { HINDCAST_URL: gateway.url, HINDCAST_API_KEY: 'sk-wrong' });
  expect(wrong).toMatchObject({ code: 1, said: expect.stringContaining('HINDCAST_API_KEY') });
  expect(wrong.said + wrong.printed).not.toContain('sk-wrong');
  const misplaced = await run('status', '--key-file', 'sk-taken-for-a-file');
  expect(misplaced).toMatchObject({ code: 2, said: expect.not.stringContaining('sk-taken') });
});

it('lists turns by the filters of the interface, over as many pages as were asked for', async () => {
  gateway.routes.set('GET /admin/v1/turns', ({ query }) => ({
    json: query['before'] === 'c1' ? { turns: [turn], next: null } : { turns: [turn, turn], next: 'c1' },
  }));
  const filters = [
    '--state',
    'trained',
    '--case',
    'opdRl',
    '--reason',
    'off-policy:*',
    '--policy-version',
    '1',
    '--text',
    'rain',
  ];
  const { code, printed } = await run('turns', 'list', ...filters, '--limit', '3');
  expect({ code, rows: printed.split('\n').filter((line) => line.includes(TURN_ID)).length }).toEqual({
    code: 0,
    rows: 3,
  });
  expect(printed).toContain('What is rain? → A list.');
  expect(gateway.calls.map(({ query }) => query)).toEqual([
    { state: 'trained', case: 'opdRl', reason: 'off-policy:*', version: '1', text: 'rain', limit: '3' },
    { state: 'trained', case: 'opdRl', reason: 'off-policy:*', version: '1', text: 'rain', before: 'c1', limit: '1' },
  ]);
  expect(await run('turns', 'list', '--limit', '2')).toMatchObject({ said: expect.stringContaining('--before c1') });
  expect(await run('turns', 'list', '--state', 'asleep')).toMatchObject({ code: 2 });
});

it('shows a turn whole', async () => {
  gateway.routes.set(`GET /admin/v1/turns/${TURN_ID}`, () => ({ json: shownTurn }));
  const { code, printed } = await run('turns', 'show', TURN_ID, '--tokens');
  expect(code).toBe(0);
  for (const part of [
    'What is rain?',
    'No lists, please.',
    'It is a list. \\boxed{-1}',
    'Answer in plain text.',
    'opdRl, reward -1 by votes',
    'trained in version 2',
  ])
    expect(printed).toContain(part);
  expect(printed).toContain('1  8   " list"  1.0000');
  expect(JSON.parse((await run('turns', 'show', TURN_ID, '--json')).printed)).toEqual(shownTurn);
  expect(await run('turns', 'show', 'x')).toMatchObject({ code: 1 });
});

it('gives feedback, of another tenant’s turn as an administrator', async () => {
  const accepted = { json: { turn_id: TURN_ID, status: 'accepted' } };
  gateway.routes.set('POST /v1/feedback', ({ body }) =>
    (body as { response_id?: string }).response_id ? accepted : refused(404, 'turn-not-found', 'there is no such turn'),
  );
  expect(await run('feedback', 'chatcmpl-1', '1')).toMatchObject({ code: 0, printed: 'Accepted.\n' });
  expect(await run('feedback', TURN_ID, '-1')).toMatchObject({
    code: 1,
    said: expect.stringContaining('no such turn'),
  });
  gateway.routes.set(`POST /admin/v1/turns/${TURN_ID}/feedback`, () => accepted);
  expect(await run('feedback', TURN_ID, '-1', '--correction', 'plain', '--json')).toMatchObject({ code: 0 });
  expect(gateway.calls.at(-1)!.body).toEqual({ reward: -1, correction: 'plain' });
  expect(await run('feedback', TURN_ID, '2')).toMatchObject({ code: 2 });
});

it('chats: one message, or a conversation line by line', async () => {
  gateway.routes.set('POST /v1/chat/completions', () => streamed(TURN_ID, ['Hel', 'lo.']));
  expect(await run('chat', '--once', 'Hi', '--model', 'seed', '--session', 's1')).toMatchObject({
    code: 0,
    printed: 'Hello.\n',
    said: expect.stringContaining(`turn ${TURN_ID}`),
  });
  expect(gateway.calls[0]).toMatchObject({ headers: { 'x-session-id': 's1' }, body: { model: 'seed', stream: true } });
  const env = { HINDCAST_URL: gateway.url };
  const lines = await hindcast(['chat', '--lines', '--json'], env, 'One\nTwo\n');
  expect(lines.code).toBe(0);
  expect(
    lines.printed
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { text: string }).text),
  ).toEqual(['Hello.', 'Hello.']);
  expect((gateway.calls.at(-1)!.body as { messages: unknown[] }).messages).toEqual([
    { role: 'user', content: 'One' },
    { role: 'assistant', content: 'Hello.' },
    { role: 'user', content: 'Two' },
  ]);
  expect(await hindcast(['chat'], env, 'All of\nit')).toMatchObject({ code: 0 });
  expect((gateway.calls.at(-1)!.body as { messages: unknown[] }).messages).toEqual([
    { role: 'user', content: 'All of\nit' },
  ]);
  expect(await hindcast(['chat'], env)).toMatchObject({ code: 2 });
});

it('an answer that ends before its end is a failure', async () => {
  gateway.routes.set('POST /v1/chat/completions', () => (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('data: {"error":{"message":"the engine went away"}}\n\n');
  });
  expect(await run('chat', '--once', 'Hi')).toMatchObject({
    code: 1,
    said: expect.stringContaining('the engine went away'),
  });
});

it('simulated users talk to it, and say what they make of its answers', async () => {
  gateway.routes.set('POST /v1/chat/completions', () => streamed(TURN_ID, ['Rain is water ', 'that falls.']));
  const ran = await hindcast(['simulate', '--sessions', '2', '--at-once', '2', '--json'], {
    HINDCAST_URL: gateway.url,
  });
  expect(ran.code).toBe(0);
  const { sessions, answers } = JSON.parse(ran.printed) as { sessions: number; answers: number };
  expect(sessions).toBe(2);
  // The last reaction of each is a side request.
  const types = gateway.calls.map(({ headers }) => headers['x-turn-type']);
  expect(types.filter((type) => type === 'main')).toHaveLength(answers);
  expect(types.filter((type) => type === 'side')).toHaveLength(2);
});
