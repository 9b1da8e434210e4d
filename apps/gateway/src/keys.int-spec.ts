import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Log, parseConfig } from '@hindcast/platform';
import type { NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { GatewayConfig } from './config';
import { eventually, startTestGateway, type RunningGateway } from './testing/gateway-harness';
import { becomes, KeyStage, statusOf } from './testing/key-stage';
import { bearer, fileOf, named, sha256 } from './testing/keys';

let stage: KeyStage;
let nats: NatsServer;

beforeAll(async () => {
  stage = await KeyStage.start();
  ({ nats } = stage);
});
afterAll(() => stage.stop());
afterEach(async () => {
  jest.restoreAllMocks();
  await stage.cleanUp();
});

const folder = (): string => stage.folder();
const start = (env: Record<string, string>): Promise<RunningGateway> => stage.startGateway(env);

describe('the keys file', () => {
  const rewrite = (file: string, text: string): void => {
    writeFileSync(`${file}.part`, text);
    renameSync(`${file}.part`, file);
  };

  it('rotates keys without a restart, with an overlap; what is removed is refused', async () => {
    const file = join(folder(), 'keys.json');
    writeFileSync(file, fileOf(named('ann', 'old')));
    const gateway = await start({ API_KEYS_FILE: file, API_KEYS: `bob:${sha256('bobs')}` });
    expect(await statusOf(gateway, bearer('old'))).toBe(200);
    expect(await statusOf(gateway, bearer('new'))).toBe(401);
    rewrite(file, fileOf(named('ann', 'old'), named('ann', 'new')));
    await becomes(gateway, 'new', 200);
    expect(await statusOf(gateway, bearer('old'))).toBe(200);
    rewrite(file, fileOf(named('ann', 'new')));
    await becomes(gateway, 'old', 401);
    expect(await statusOf(gateway, bearer('new'))).toBe(200);
    rewrite(file, fileOf());
    await becomes(gateway, 'new', 401);
    expect(await statusOf(gateway, bearer('bobs'))).toBe(200);
  });

  it('may be a mounted secret: a link through a folder that is swapped', async () => {
    const mount = folder();
    const version = (name: string, text: string): void => {
      mkdirSync(join(mount, name));
      writeFileSync(join(mount, name, 'keys.json'), text);
      symlinkSync(name, join(mount, '..next'));
      renameSync(join(mount, '..next'), join(mount, '..data'));
    };
    version('..1', fileOf(named('ann', 'old')));
    symlinkSync(join('..data', 'keys.json'), join(mount, 'keys.json'));
    const gateway = await start({ API_KEYS_FILE: join(mount, 'keys.json') });
    expect(await statusOf(gateway, bearer('old'))).toBe(200);
    version('..2', fileOf(named('ann', 'new')));
    await becomes(gateway, 'new', 200);
    expect(await statusOf(gateway, bearer('old'))).toBe(401);
  });

  it('is noticed where its folder shows no change: a link to another place', async () => {
    const [here, there] = [folder(), folder()];
    writeFileSync(join(there, 'k'), fileOf(named('ann', 'old')));
    symlinkSync(join(there, 'k'), join(here, 'keys.json'));
    const gateway = await start({ API_KEYS_FILE: join(here, 'keys.json') });
    writeFileSync(join(there, 'k'), fileOf(named('ann', 'new')));
    await becomes(gateway, 'new', 200);
    expect(await statusOf(gateway, bearer('old'))).toBe(401);
  });

  it('changes nothing while it is broken or gone, and says so without quoting it', async () => {
    const secret = 'sk-secret-in-the-file';
    const file = join(folder(), 'keys.json');
    writeFileSync(file, fileOf(named('ann', 'good')));
    const logged = jest.spyOn(Log.prototype, 'error');
    const gateway = await start({ API_KEYS_FILE: file });
    const refusals = (): unknown[] => logged.mock.calls.filter(([event]) => event === 'keys.refused');
    const brokenFiles = [
      `{"keys": "${secret}`,
      JSON.stringify({ keys: [{ name: 'ann', sha256: secret, [secret]: secret }] }),
      fileOf(named('ann', 'a'), named('ann', 'b', { tenant: secret })),
    ];
    for (const [index, text] of brokenFiles.entries()) {
      rewrite(file, text);
      await eventually(async () => refusals().length === index + 1);
      expect(await gateway.metric('api_keys_file_broken')).toBe(1);
      expect(await statusOf(gateway, bearer('good'))).toBe(200);
    }
    rmSync(file);
    await eventually(async () => refusals().length === brokenFiles.length + 1);
    expect(await statusOf(gateway, bearer('good'))).toBe(200);
    expect(JSON.stringify(logged.mock.calls)).not.toContain(secret);
    expect(JSON.stringify(logged.mock.calls.at(-1))).toContain('ENOENT');
    rewrite(file, fileOf(named('ann', 'next')));
    await becomes(gateway, 'next', 200);
    expect(await gateway.metric('api_keys_file_broken')).toBe(0);
    expect(refusals()).toHaveLength(brokenFiles.length + 1);
  });

  it.each([
    { why: 'that is missing', text: null, problem: /API_KEYS_FILE: it cannot be read \(ENOENT\)/ },
    { why: 'that is broken', text: 'sk-secret', problem: /API_KEYS_FILE: it is not JSON/ },
    { why: 'that contradicts API_KEYS', text: fileOf(named('bob', 'k', { tenant: 'x' })), problem: /another tenant/ },
  ])('keeps the gateway from starting with one $why', async ({ text, problem }) => {
    const file = join(folder(), 'keys.json');
    if (text !== null) writeFileSync(file, text);
    const started = startTestGateway(
      { NATS_URL: nats.url, API_KEYS_FILE: file, API_KEYS: `bob:${sha256('b')}` },
      folder(),
    );
    await expect(started).rejects.toMatchObject({ code: 'config-invalid', message: expect.stringMatching(problem) });
  });

  it('counts as keys: other addresses may be served, and nobody gets in without one', async () => {
    const file = join(folder(), 'keys.json');
    writeFileSync(file, fileOf());
    const gateway = await start({ API_KEYS_FILE: file });
    expect(await statusOf(gateway, {})).toBe(401);
    const parse = (env: Record<string, string>): unknown => parseConfig('gateway', GatewayConfig, env);
    expect(() => parse({ HOST: '0.0.0.0', API_KEYS_FILE: file })).not.toThrow();
    expect(() => parse({ HOST: '0.0.0.0' })).toThrow(/API_KEYS_FILE/);
  });
});

describe('a request’s key', () => {
  it('is taken from Authorization or x-api-key, whichever is known, until it expires', async () => {
    const file = join(folder(), 'keys.json');
    const [past, future] = [new Date(Date.now() - 1000), new Date(Date.now() + 3_600_000)];
    writeFileSync(
      file,
      fileOf(
        named('ann', 'good', { expiresAt: future.toISOString() }),
        named('eve', 'expired', { expiresAt: past.toISOString() }),
      ),
    );
    const gateway = await start({ API_KEYS_FILE: file });
    const cases: [Record<string, string>, number][] = [
      [bearer('good'), 200],
      [{ 'x-api-key': 'good' }, 200],
      [{ ...bearer('wrong'), 'x-api-key': 'good' }, 200],
      [{ ...bearer('good'), 'x-api-key': 'wrong' }, 200],
      [{ authorization: 'Basic good' }, 401],
      [{ 'x-api-key': sha256('good') }, 401],
      [bearer('expired'), 401],
      [{ ...bearer('expired'), 'x-api-key': 'good' }, 200],
      [{}, 401],
    ];
    for (const [headers, status] of cases)
      expect([headers, await statusOf(gateway, headers)]).toEqual([headers, status]);
    const refused = await fetch(`${gateway.url}/v1/models`, { headers: bearer('expired') });
    expect(await refused.json()).toMatchObject({
      error: { type: 'authentication_error', code: 'unauthorized', message: 'the API key has expired' },
    });
  });
});

describe('a caller without a key', () => {
  it.each([
    { reason: 'no JSON', body: '{', type: 'application/json' },
    { reason: 'larger than any body may be', body: 'x'.repeat(3_000), type: 'application/json' },
    { reason: 'of no known type', body: 'x', type: 'application/xml' },
  ])('is refused before its body is read: $reason', async ({ body, type }) => {
    const gateway = await start({ API_KEYS: `ann:${sha256('anns')}`, MAX_BODY_BYTES: '1000' });
    for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/feedback']) {
      const response = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      });
      expect(response.status).toBe(401);
      expect(((await response.json()) as { error: { message: string } }).error.message).toMatch(/API key/);
    }
    expect((await fetch(`${gateway.url}/v1/nothing`)).status).toBe(404);
  });
});
