import { createHash } from 'node:crypto';
import { startNatsServer, freePort, type NatsServer } from '../../../../libs/platform/src/testing/nats-server';
import { refuse, reply, startFakeJudge, type FakeJudge } from '../../../judge-svc/src/testing/fake-judge';
import { startPostgres, type TestPostgres } from '../../../dispatcher/src/testing/postgres';
import type { FakeEngine } from '../../../gateway/src/testing/fake-engine';
import { hindcast, hindcastHere, type Ran } from '../testing/command';
import { MODEL_DIR, startModelServer, type Ailments } from '../testing/fake-model-server';
import { startFixtureGateway, type FixtureGateway } from '../testing/fixture-gateway';
import { overview } from '../testing/shown';
import type { Finding } from './core/finding';

// One sound set-up of real processes; each test breaks one thing of it, and reads what the doctor makes of that.

let nats: NatsServer;
let postgres: TestPostgres;
let databaseUrl: string;
let engine: FakeEngine;
let judge: FakeJudge;
let gateway: FixtureGateway;
const VOTE = '{"reasoning":"The user says so.","score":-1}';
const ended: (() => Promise<void>)[] = [];

beforeAll(async () => {
  [nats, postgres, engine, gateway, judge] = await Promise.all([
    startNatsServer(),
    startPostgres(),
    startModelServer('vllm'),
    startFixtureGateway(),
    startFakeJudge((_, __, response) => reply(response, VOTE)),
  ]);
  databaseUrl = await postgres.createDatabase();
  gateway.routes.set('GET /healthz', () => ({ json: { ok: true } }));
  gateway.routes.set('GET /admin/v1/overview', () => ({ json: overview }));
}, 60_000);
afterAll(async () => {
  await Promise.all([nats.stop(), postgres.stop(), engine.stop(), gateway.stop(), judge.stop()]);
});
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

type Run = typeof hindcast;

async function doctor(
  env: Record<string, string> = {},
  run: Run = hindcastHere,
): Promise<{ ran: Ran; ok: boolean; findings: Finding[] }> {
  const ran = await run(['doctor', '--json'], {
    NATS_URL: nats.url,
    DATABASE_URL: databaseUrl,
    POLICY_BASE_URL: engine.url,
    JUDGE_BASE_URL: judge.baseUrl,
    HINDCAST_URL: gateway.url,
    MODEL_DIR,
    ...env,
  });
  return { ran, ...(JSON.parse(ran.printed) as { ok: boolean; findings: Finding[] }) };
}

/** What it finds wrong, and nothing else. */
async function wrong(
  env: Record<string, string>,
  grade: Finding['grade'] = 'fault',
  run: Run = hindcastHere,
): Promise<Finding[]> {
  const { ran, ok, findings } = await doctor(env, run);
  const faults = findings.filter((finding) => finding.grade === 'fault');
  expect({ code: ran.code, ok }).toEqual(faults.length > 0 ? { code: 1, ok: false } : { code: 0, ok: true });
  return findings.filter((finding) => finding.grade === grade);
}

const told = (check: string, found: string, mend: string): Finding =>
  ({
    check: expect.stringContaining(check) as string,
    grade: expect.stringMatching(/fault|warning/) as string,
    found: expect.stringContaining(found) as string,
    mend: expect.stringContaining(mend) as string,
  }) as Finding;

async function modelServer(dialect: 'vllm' | 'sglang', ailments: Ailments): Promise<string> {
  const server = await startModelServer(dialect, ailments);
  ended.push(() => server.stop());
  return server.url;
}

it('a sound set-up has no fault', async () => {
  const { ran, ok, findings } = await doctor({}, hindcast);
  expect(findings.filter(({ grade }) => grade === 'fault')).toEqual([]);
  expect({ ok, code: ran.code }).toEqual({ ok: true, code: 0 });
  const sound = findings.filter(({ grade }) => grade === 'ok').map(({ check }) => check.replace(` ${engine.url}`, ''));
  expect(sound).toEqual(
    expect.arrayContaining([
      'node',
      'broker',
      'broker: max_payload',
      'database',
      'engine: token ids',
      'engine: log-prob mode',
      'engine: tokenizer',
      'engine: chat template',
      'engine: /tokenize',
      'engine: adapters',
      'teacher: scoring',
      `judge ${judge.baseUrl}`,
      'keys',
      'clocks',
      'gateway',
      'service trainer',
    ]),
  );
});

it('no broker', async () => {
  const port = await freePort();
  expect(await wrong({ NATS_URL: `nats://127.0.0.1:${port}` })).toEqual([
    told('broker', `nats://127.0.0.1:${port} does not answer`, 'NATS_URL'),
  ]);
});

it('a broker without JetStream', async () => {
  const server = await startNatsServer({ jetStream: false });
  ended.push(() => server.stop());
  expect(await wrong({ NATS_URL: server.url })).toEqual([told('broker: JetStream', 'off', 'nats-server with -js')]);
});

it('a broker that asks for a user', async () => {
  const server = await startNatsServer({ more: () => 'authorization { user: a, password: b }' });
  ended.push(() => server.stop());
  expect(await wrong({ NATS_URL: server.url })).toEqual([
    told('broker', 'takes no connection', 'NATS_USER and NATS_PASSWORD'),
  ]);
});

it('a broker whose messages are small, and one in no cluster that should have replicas', async () => {
  const server = await startNatsServer({ maxPayload: 1_048_576 });
  ended.push(() => server.stop());
  expect(await wrong({ NATS_URL: server.url }, 'warning')).toContainEqual(
    told('max_payload', '1.0 MiB', 'max_payload: 8388608'),
  );
  expect(await wrong({ NATS_REPLICAS: '3' })).toEqual([told('durability', 'in no cluster', 'NATS_REPLICAS=1')]);
});

it('a database that refuses the password, which is not shown', async () => {
  const url = databaseUrl.replace(/:[^:@/]+@/, ':not-the-password@');
  const faults = await wrong({ DATABASE_URL: url });
  expect(faults).toEqual([told('database', 'refuses the user', 'DATABASE_URL')]);
  expect(JSON.stringify(faults)).not.toContain('not-the-password');
});

it('no database, and none of that name', async () => {
  const port = await freePort();
  expect(await wrong({ DATABASE_URL: `postgresql://u:p@127.0.0.1:${port}/hindcast` })).toEqual([
    told('database', 'does not answer (ECONNREFUSED)', 'DATABASE_URL'),
  ]);
  expect(await wrong({ DATABASE_URL: databaseUrl.replace(/\/test_[0-9a-f]+/, '/nowhere') })).toEqual([
    told('database', 'has no database nowhere', 'createdb'),
  ]);
});

it('an engine that is not there, and one that lists another model', async () => {
  const away = `http://127.0.0.1:${await freePort()}/v1`;
  const faults = await wrong({ POLICY_BASE_URL: away });
  expect(faults).toContainEqual(told(`engine ${away}`, 'does not answer (ECONNREFUSED)', 'POLICY_BASE_URL'));
  expect(await wrong({ POLICY_MODEL: 'qwen' })).toContainEqual(told('engine', 'it lists seed', 'POLICY_MODEL'));
});

it('an engine without token ids', async () => {
  const url = await modelServer('vllm', { givesNoIds: true });
  expect(await wrong({ POLICY_BASE_URL: url })).toEqual([told('token ids', 'no-token-ids', 'return_token_ids')]);
});

it('an engine with another tokenizer', async () => {
  const url = await modelServer('vllm', { shiftsIds: true });
  expect(await wrong({ POLICY_BASE_URL: url })).toEqual([told('tokenizer', 'another one than', 'MODEL_DIR')]);
});

it('an engine that tokenises a conversation in two ways', async () => {
  const url = await modelServer('vllm', { hasTwoTemplates: true });
  expect(await wrong({ POLICY_BASE_URL: url })).toEqual([told('/tokenize', 'template-mismatch', '--chat-template')]);
});

it.each<[string, 'vllm' | 'sglang']>([
  ['vllm', 'vllm'],
  ['sglang', 'sglang'],
])('%s: log-probs of another temperature than was asked for', async (_, dialect) => {
  const url = await modelServer(dialect, { reported: (logProb) => logProb * 0.2 });
  expect(await wrong({ POLICY_BASE_URL: url, POLICY_DIALECT: dialect })).toEqual([
    told('log-prob mode', 'not those of plain sampling', '--logprobs-mode raw_logprobs'),
  ]);
});

it('processed log-probs, which matter where other sampling is trained on', async () => {
  const url = await modelServer('vllm', { reported: (logProb, isGreedy) => (isGreedy ? 0 : logProb) });
  const finding = told('log-prob mode', 'processed', '--logprobs-mode raw_logprobs');
  expect(await wrong({ POLICY_BASE_URL: url }, 'warning')).toContainEqual(finding);
  expect(await wrong({ POLICY_BASE_URL: url, OFF_POLICY: 'train' })).toEqual([finding]);
});

it('logits in the place of log-probs', async () => {
  const url = await modelServer('vllm', { reported: (logProb) => logProb + 12 });
  expect(await wrong({ POLICY_BASE_URL: url })).toEqual([
    told('log-probs', 'is above 0', '--logprobs-mode raw_logprobs'),
  ]);
});

it('an engine that loads no adapters', async () => {
  const url = await modelServer('vllm', { hasNoAdapters: true });
  expect(await wrong({ POLICY_BASE_URL: url })).toEqual([
    told('adapters', 'cannot be loaded', 'VLLM_ALLOW_RUNTIME_LORA_UPDATING=True'),
  ]);
});

it('an SGLang that is taken for a vLLM', async () => {
  const url = await modelServer('sglang', {});
  expect(await wrong({ POLICY_BASE_URL: url })).toContainEqual(
    told('streamed answer', 'is refused: status 400', 'POLICY_DIALECT'),
  );
  expect(await wrong({ POLICY_BASE_URL: url, POLICY_DIALECT: 'sglang' })).toEqual([]);
});

it('a judge that answers nonsense, one that takes no key of ours, and none', async () => {
  const nonsense = await startFakeJudge((_, __, response) => reply(response, 'As a teapot I cannot.'));
  const strict = await startFakeJudge((_, __, response) => refuse(response, 401, {}, 'no such key'));
  ended.push(nonsense.stop, strict.stop);
  expect(await wrong({ JUDGE_BASE_URL: nonsense.baseUrl }, 'fault', hindcast)).toEqual([
    told(`judge ${nonsense.baseUrl}`, 'cannot be read', 'JUDGE_MODEL'),
  ]);
  const faults = await wrong({ JUDGE_BASE_URL: strict.baseUrl, JUDGE_API_KEY: 'sk-very-secret' }, 'fault', hindcast);
  expect(faults).toEqual([told(`judge ${strict.baseUrl}`, 'refuses the key (status 401)', 'JUDGE_API_KEY')]);
  expect(JSON.stringify(faults)).not.toContain('sk-very-secret');
  expect(await wrong({ JUDGE_BASE_URL: `http://127.0.0.1:${await freePort()}/v1` }, 'fault', hindcast)).toEqual([
    told('judge', 'gives no vote (no answer: ECONNREFUSED)', 'JUDGE_BASE_URL'),
  ]);
});

it('a gateway for everybody without keys, a key that is written wrong, and no administrator', async () => {
  expect(await wrong({ HOST: '0.0.0.0' })).toEqual([told('keys', 'HOST=0.0.0.0', 'API_KEYS=name:sha256hex')]);
  expect(await wrong({ API_KEYS: 'ann:secret-itself' })).toEqual([
    told('keys', 'API_KEYS is no name:sha256hex', 'sha256'),
  ]);
  const hash = createHash('sha256').update('k').digest('hex');
  expect(await wrong({ API_KEYS: `ann:${hash}` }, 'warning')).toContainEqual(
    told('keys', "none of them an administrator's", 'ADMIN_API_KEYS'),
  );
});

it('a variable that is wrong is named, with what it should be', async () => {
  expect(await wrong({ NATS_REPLICAS: '7' })).toEqual([told('settings', 'NATS_REPLICAS', '.env.example')]);
});

it('for a person every fault comes with its remedy, and without colours where nobody looks', async () => {
  const { code, printed } = await hindcast(['doctor'], { NATS_URL: `nats://127.0.0.1:${await freePort()}` });
  expect(code).toBe(1);
  expect(printed).toMatch(/FAULT {4}broker .*does not answer.*\n.*→ .*NATS_URL/);
  expect(printed).toMatch(/\d faults, \d warnings?\.\n$/);
  expect(printed).not.toContain('\u001b');
});
