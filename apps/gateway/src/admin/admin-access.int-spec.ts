import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { startNatsServer, type NatsServer } from '../../../../libs/platform/src/testing/nats-server';
import { FakeEngine } from '../testing/fake-engine';
import { FakeLedger, overviewAnswer } from '../testing/fake-ledger';
import { BusReader, eventually, startTestGateway, type RunningGateway } from '../testing/gateway-harness';

const entry = (name: string, key: string): string => `${name}:${createHash('sha256').update(key).digest('hex')}`;

let nats: NatsServer;
let engine: FakeEngine;
let bus: BusReader;
let ledger: FakeLedger;
let open: RunningGateway;
let keyed: RunningGateway;

beforeAll(async () => {
  nats = await startNatsServer();
  engine = await FakeEngine.start();
  bus = await BusReader.connect(nats.url);
  ledger = await FakeLedger.start(bus.raw);
  ledger.answers = { overview: () => overviewAnswer(), steps: () => ({ steps: [], next: null }) };
  const env = { NATS_URL: nats.url, POLICY_BASE_URL: engine.url };
  open = await startTestGateway(env);
  keyed = await startTestGateway({ ...env, API_KEYS: entry('ann', 'anns'), ADMIN_API_KEYS: entry('root', 'roots') });
  for (const { url } of [open, keyed])
    await eventually(async () => (await (await fetch(`${url}/readyz`)).text()).includes('"degraded":[]'));
});
afterAll(async () => {
  await Promise.all([open.stop(), keyed.stop()]);
  ledger.stop();
  await bus.close();
  await engine.stop();
  await nats.stop();
});

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: { error?: { code: string; message: string } } & Record<string, unknown>;
}

/** Sends exactly these headers, `Host` among them. */
function ask(
  gateway: RunningGateway,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(`${gateway.url}${path}`, { method, headers }, (response) => {
      let text = '';
      response.on('data', (piece: Buffer) => (text += piece.toString()));
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          body: text === '' ? {} : (JSON.parse(text) as Answer['body']),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const JSON_TYPE = { 'content-type': 'application/json' };
const ROOT = { authorization: 'Bearer roots' };
const ROLLBACK = '/admin/v1/policies/rollback';

it('says who is asking', async () => {
  expect(await ask(open, 'GET', '/admin/v1/session', {})).toMatchObject({
    status: 200,
    body: { open: true, name: 'default', release: expect.stringMatching(/^\d+\.\d+\.\d+/) as string },
  });
  expect(await ask(keyed, 'GET', '/admin/v1/session', { 'x-api-key': 'roots' })).toMatchObject({
    status: 200,
    body: { open: false, name: 'root' },
    headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
  });
});

it('an administrator’s key is one for everything else, of the tenant of its name', async () => {
  expect((await ask(keyed, 'GET', '/v1/models', ROOT)).status).toBe(200);
});

const routes: [string, string][] = [
  ['GET', '/admin/v1/session'],
  ['GET', '/admin/v1/overview'],
  ['GET', '/admin/v1/turns'],
  ['GET', '/admin/v1/turns/x'],
  ['POST', '/admin/v1/turns/x/feedback'],
  ['GET', '/admin/v1/steps'],
  ['GET', '/admin/v1/policies'],
  ['POST', ROLLBACK],
  ['GET', '/admin/v1/judge'],
  ['GET', '/admin/v1/dead-letters'],
  ['GET', '/admin/v1/dead-letters/1/2'],
  ['POST', '/admin/v1/dead-letters/1/2/replay'],
  ['POST', '/admin/v1/dead-letters/1/2/discard'],
  ['GET', '/admin/v1/settings'],
  ['GET', '/admin/v1/events'],
];
it.each(routes)('%s %s is for administrators only', async (method, path) => {
  const call = (headers: Record<string, string>): Promise<Answer> =>
    ask(
      keyed,
      method,
      path,
      method === 'POST' ? { ...JSON_TYPE, ...headers } : headers,
      method === 'POST' ? '{' : undefined,
    );
  expect(await call({})).toMatchObject({ status: 401, body: { error: { code: 'unauthorized' } } });
  expect(await call({ authorization: 'Bearer wrong' })).toMatchObject({ status: 401 });
  expect(await call({ authorization: 'Bearer anns' })).toMatchObject({
    status: 403,
    body: { error: { code: 'forbidden' } },
  });
});

it('a path that is written otherwise is no way in', async () => {
  for (const path of ['/%61dmin/v1/session', '/admin/v1/%73ession'])
    expect([401, 404]).toContain((await ask(keyed, 'GET', path, {})).status);
  expect(
    (await ask(keyed, 'GET', '/admin/v1/session', { 'x-api-key': 'roots', authorization: 'Bearer anns' })).status,
  ).toBe(200);
});

interface Case {
  readonly why: string;
  readonly to: 'open' | 'keyed';
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly status: number;
}
const cases: Case[] = [
  { why: 'a script', to: 'open', method: 'GET', headers: {}, status: 200 },
  { why: 'the page itself', to: 'open', method: 'GET', headers: { 'sec-fetch-site': 'same-origin' }, status: 200 },
  { why: 'an address that was typed', to: 'open', method: 'GET', headers: { 'sec-fetch-site': 'none' }, status: 200 },
  { why: 'another site', to: 'open', method: 'GET', headers: { 'sec-fetch-site': 'cross-site' }, status: 403 },
  { why: 'another port', to: 'open', method: 'GET', headers: { 'sec-fetch-site': 'same-site' }, status: 403 },
  { why: 'a name that leads here', to: 'open', method: 'GET', headers: { host: 'evil.example' }, status: 403 },
  { why: 'such a name with a port', to: 'open', method: 'GET', headers: { host: 'evil.example:80' }, status: 403 },
  { why: 'localhost', to: 'open', method: 'GET', headers: { host: 'localhost:8080' }, status: 200 },
  { why: 'IPv6', to: 'open', method: 'GET', headers: { host: '[::1]:8080' }, status: 200 },
  { why: 'a name below localhost', to: 'open', method: 'GET', headers: { host: 'hindcast.localhost' }, status: 200 },
  { why: 'a name that begins so', to: 'open', method: 'GET', headers: { host: '127.0.0.1.evil.example' }, status: 403 },
  { why: 'any name, with a key', to: 'keyed', method: 'GET', headers: { host: 'hindcast.example' }, status: 200 },
  {
    why: 'another site, with a key',
    to: 'keyed',
    method: 'GET',
    headers: { 'sec-fetch-site': 'cross-site' },
    status: 200,
  },
  { why: 'a script', to: 'open', method: 'POST', headers: JSON_TYPE, status: 202 },
  { why: 'a script', to: 'keyed', method: 'POST', headers: JSON_TYPE, status: 202 },
  {
    why: 'the page itself',
    to: 'keyed',
    method: 'POST',
    headers: { ...JSON_TYPE, host: 'a.example', origin: 'https://a.example', 'sec-fetch-site': 'same-origin' },
    status: 202,
  },
  {
    why: 'the page itself, of an older browser',
    to: 'keyed',
    method: 'POST',
    headers: { ...JSON_TYPE, host: 'A.example:8080', origin: 'http://a.example:8080' },
    status: 202,
  },
  {
    why: 'another site, of an older browser',
    to: 'keyed',
    method: 'POST',
    headers: { ...JSON_TYPE, host: 'a.example', origin: 'https://evil.example' },
    status: 403,
  },
  { why: 'a page of nowhere', to: 'open', method: 'POST', headers: { ...JSON_TYPE, origin: 'null' }, status: 403 },
  {
    why: 'another site with a key',
    to: 'keyed',
    method: 'POST',
    headers: { ...JSON_TYPE, 'sec-fetch-site': 'cross-site' },
    status: 403,
  },
  {
    why: 'a page whose name leads here',
    to: 'open',
    method: 'POST',
    headers: { ...JSON_TYPE, host: 'evil.example', origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' },
    status: 403,
  },
  { why: 'a form', to: 'open', method: 'POST', headers: { 'content-type': 'text/plain' }, status: 403 },
  { why: 'no content type', to: 'open', method: 'POST', headers: {}, status: 403 },
  {
    why: 'a content type that begins so',
    to: 'open',
    method: 'POST',
    headers: { 'content-type': 'application/jsonp' },
    status: 403,
  },
  {
    why: 'JSON with its encoding named',
    to: 'open',
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8' },
    status: 202,
  },
];
it.each(cases)('$method of $why, $to: $status', async ({ to, method, headers, status }) => {
  const gateway = to === 'open' ? open : keyed;
  const sent = { ...(to === 'keyed' && ROOT), ...headers };
  const answer =
    method === 'GET'
      ? await ask(gateway, 'GET', '/admin/v1/steps', sent)
      : await ask(gateway, 'POST', ROLLBACK, sent, '{"version":0}');
  expect(answer.status).toBe(status);
  if (status === 403) expect(answer.body.error?.code).toBe('forbidden');
});
