import { HindcastError } from '@hindcast/contracts';
import { z } from 'zod';
import { booleanFlag, commaList, commonConfig, parseConfig, resolvedConfigForLog, secret } from './config';

const Config = commonConfig(8081).extend({
  STRICT_MODEL: booleanFlag.default(false),
  POLICY_BASE_URL: commaList.default(['http://127.0.0.1:8000/v1']),
  JUDGE_LOGIN: secret.optional(),
  DATABASE_URL: secret.min(1).optional(),
  VOTES: z.coerce.number().int().positive().default(3),
});
const parse = (env: Record<string, string | undefined>) => parseConfig('judge-svc', Config, env);

it('has defaults, and takes an empty variable for an unset one', () => {
  expect(parse({ PORT: '', VOTES: '', OTHER: 'x' })).toEqual({
    HOST: '127.0.0.1',
    PORT: 8081,
    NATS_URL: 'nats://127.0.0.1:4222',
    NATS_REPLICAS: 1,
    DATA_DIR: '.data',
    LOG_LEVEL: 'info',
    MAX_DELIVERIES: 10,
    ACK_WAIT_SECONDS: 30,
    SHUTDOWN_DELAY_SECONDS: 0,
    SHUTDOWN_SECONDS: 25,
    STRICT_MODEL: false,
    POLICY_BASE_URL: ['http://127.0.0.1:8000/v1'],
    VOTES: 3,
  });
});

it('reads flags and lists', () => {
  expect(parse({ STRICT_MODEL: 'Yes', POLICY_BASE_URL: ' http://a/v1, http://b/v1 ,' })).toMatchObject({
    STRICT_MODEL: true,
    POLICY_BASE_URL: ['http://a/v1', 'http://b/v1'],
  });
});

it('reports all mistakes together', () => {
  const mistake = (): unknown => parse({ PORT: '70000', VOTES: '0', LOG_LEVEL: 'loud', STRICT_MODEL: 'maybe' });
  expect(mistake).toThrow(HindcastError);
  for (const name of ['judge-svc', 'PORT', 'VOTES', 'LOG_LEVEL', 'STRICT_MODEL']) expect(mistake).toThrow(name);
});

it.each(['not a url', 'nats://a:4222,', 'nats://a:port', ' '])('NATS_URL=%j is a mistake', (url) =>
  expect(() => parse({ NATS_URL: url })).toThrow('NATS_URL'),
);

it.each(['a', 'a:4222', 'tls://me:hush@a:4222, nats://[::1]:4222'])('NATS_URL=%j is none', (url) =>
  expect(parse({ NATS_URL: url }).NATS_URL).toBe(url),
);

it.each([
  [{ NATS_USER: 'me' }, 'NATS_PASSWORD: is needed beside NATS_USER'],
  [{ NATS_PASSWORD: 'hush', PORT: '70000' }, 'NATS_USER: is needed beside NATS_PASSWORD'],
])('%j is half of a mistake', (env, mistake) => expect(() => parse(env)).toThrow(mistake));

it('cannot be changed', () => {
  expect(() => Object.assign(parse({}), { PORT: 1 })).toThrow(TypeError);
});

it('is logged without secrets', () => {
  const config = parse({
    JUDGE_LOGIN: 'hush',
    DATABASE_URL: 'postgres://me:hush@db/x',
    NATS_URL: 'nats://me:hush@a:4222,nats://b:4222',
    NATS_USER: 'me',
    NATS_PASSWORD: 'hush',
    POLICY_BASE_URL: 'http://u:hush@a/v1',
  });
  const logged = resolvedConfigForLog(config);
  expect(JSON.stringify(logged)).not.toContain('hush');
  expect(logged).toMatchObject({
    JUDGE_LOGIN: '***',
    NATS_USER: 'me',
    NATS_PASSWORD: '***',
    NATS_URL: 'nats://***@a:4222,nats://b:4222',
    PORT: 8081,
  });
  expect(resolvedConfigForLog({ JUDGE_API_KEY: 'hush' })).toEqual({ JUDGE_API_KEY: '***' });
});
