import { parseConfig } from '@hindcast/platform';
import { GatewayConfig } from './config';
import { answerOf } from './testing/fake-engine';
import { userSays, type RunningGateway } from './testing/gateway-harness';
import { KeyStage } from './testing/key-stage';
import { bearer, sha256 } from './testing/keys';

let stage: KeyStage;

beforeAll(async () => {
  stage = await KeyStage.start();
});
afterAll(() => stage.stop());
beforeEach(() => {
  const { engine } = stage;
  engine.script = (call) => engine.answer(call, answerOf('Hello there'));
});
afterEach(() => stage.cleanUp());

const start = (env: Record<string, string>): Promise<RunningGateway> => stage.startGateway(env);

describe('CORS', () => {
  const page = 'https://app.example';
  const preflight = (gateway: RunningGateway, origin: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
  const corsOf = (response: Response): string[] =>
    [...response.headers.keys()].filter((name) => name.startsWith('access-control-'));

  it('is off by default', async () => {
    const gateway = await start({});
    const asked = await preflight(gateway, page);
    expect([asked.status, corsOf(asked), asked.headers.has('vary')]).toEqual([404, [], false]);
    for (const stream of [true, false])
      expect(corsOf(await gateway.chat({ messages: userSays('Hi'), stream }, { origin: page }))).toEqual([]);
  });

  it('lets pages of the listed origins read answers, streamed or not, and errors; no others', async () => {
    const gateway = await start({
      CORS_ORIGINS: `${page}, http://localhost:3000`,
      API_KEYS: `ann:${sha256('k')}`,
      KEY_REQUESTS_PER_MINUTE: '100',
    });
    const asked = await preflight(gateway, page);
    expect([asked.status, await asked.text()]).toEqual([204, '']);
    expect(Object.fromEntries(asked.headers)).toMatchObject({
      'access-control-allow-origin': page,
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'authorization,content-type',
      vary: expect.stringContaining('Origin'),
    });
    const read = async (origin: string, headers: Record<string, string>, more: object = {}): Promise<Response> => {
      const response = await gateway.chat({ messages: userSays('Hi'), ...more }, { origin, ...headers });
      await response.text();
      return response;
    };
    for (const [headers, more, status] of [
      [bearer('k'), {}, 200],
      [bearer('k'), { stream: true }, 200],
      [bearer('k'), { messages: [] }, 400],
      [bearer('wrong'), {}, 401],
    ] as const) {
      const response = await read('http://localhost:3000', headers, more);
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
        status,
        'http://localhost:3000',
      ]);
      const exposed = response.headers.get('access-control-expose-headers')!.split(', ');
      expect(exposed).toEqual(expect.arrayContaining(['x-hindcast-turn-id', 'x-ratelimit-remaining-requests']));
      expect(response.headers.has('access-control-allow-credentials')).toBe(false);
    }
    expect(corsOf(await read('https://evil.example', bearer('k')))).toEqual([]);
    const refused = await preflight(gateway, 'https://evil.example');
    expect([refused.status, corsOf(refused)]).toEqual([404, []]);
  });

  it.each(['*', 'https://app.example/', 'app.example'])('does not start with CORS_ORIGINS=%s', (origins) => {
    expect(() => parseConfig('gateway', GatewayConfig, { CORS_ORIGINS: origins })).toThrow(/CORS_ORIGINS: an origin/);
  });
});
