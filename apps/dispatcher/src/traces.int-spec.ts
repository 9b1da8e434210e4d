import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contracts, type BodyOf, type ContractName } from '@hindcast/contracts';
import { Bus, type RunningService } from '@hindcast/platform';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { spansOf, type CollectedSpan } from '../../../libs/platform/src/testing/collected-spans';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { newestHeaders } from '../../../libs/platform/src/testing/stream';
import { query, startPostgres, type TestPostgres } from './testing/postgres';
import { eventually, published, startTestDispatcher, storeCapture } from './testing/service';
import { capturedTurn, pairedTurn, unhintedTurn } from './testing/turns';

jest.mock('@opentelemetry/exporter-trace-otlp-http', () =>
  jest.requireActual('../../../libs/platform/src/testing/file-exporter'),
);

let nats: NatsServer;
let postgres: TestPostgres;
let databaseUrl: string;
let service: RunningService;
let connection: NatsConnection;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-dispatcher-traces-'));
  process.env['TRACES_FILE'] = join(folder, 'traces.jsonl');
  process.env['OTEL_BSP_SCHEDULE_DELAY'] = '20';
  writeFileSync(process.env['TRACES_FILE'], '');
  [nats, postgres] = await Promise.all([startNatsServer(), startPostgres()]);
  databaseUrl = await postgres.createDatabase();
  connection = await connect({ servers: nats.url });
  service = await startTestDispatcher({
    NATS_URL: nats.url,
    DATABASE_URL: databaseUrl,
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  });
});
afterAll(async () => {
  await service.close();
  await connection.close();
  await Promise.all([nats.stop(), postgres.stop()]);
  for (const name of ['TRACES_FILE', 'OTEL_BSP_SCHEDULE_DELAY']) delete process.env[name];
  rmSync(folder, { recursive: true });
});

const sampleReady = contracts.sampleReady.subject;
const newTrace = () => ({ traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01` });
const traceIdOf = ({ traceparent }: { readonly traceparent: string }): string => traceparent.slice(3, 35);
const send = <N extends ContractName>(name: N, turnId: string | null, body: BodyOf<N>, trace = newTrace()) =>
  service.app.get(Bus).publish(name, { turnId, tenant: 'acme', body, id: randomUUID(), trace });
const gate = async (turnId: string): Promise<CollectedSpan> => {
  const found = (): CollectedSpan | undefined =>
    spansOf(readFileSync(join(folder, 'traces.jsonl'), 'utf8')).find(
      ({ name, attributes }) => name === 'gate' && attributes['hindcast.turn.id'] === turnId,
    );
  await eventually(async () => found() !== undefined);
  return found()!;
};
const hasSample = (turnId: string) => async (): Promise<boolean> =>
  (await published(nats.url, 'sampleReady')).some((message) => message.turnId === turnId);

test('a decision and its sample go on in the trace of the turn', async () => {
  const trace = newTrace();
  const turnId = await storeCapture(service, 'response');
  await send('turnUnhinted', turnId, unhintedTurn({ responseId: 'response' }), trace);
  await eventually(hasSample(turnId));
  const decision = await gate(turnId);
  expect(decision).toMatchObject({
    traceId: traceIdOf(trace),
    links: [],
    attributes: { 'hindcast.case': 'rl', 'hindcast.policy.version': 3 },
  });
  expect((await newestHeaders(connection, sampleReady))['traceparent']).toContain(traceIdOf(trace));
  const [row] = await query<{ trace: string }>(databaseUrl, `SELECT trace FROM outbox WHERE "turnId" = '${turnId}'`);
  expect(JSON.parse(row!.trace)).toEqual({ traceparent: `00-${traceIdOf(trace)}-${decision.spanId}-01` });
});

test.each<[string, string | null, boolean]>([
  ['with its trace', JSON.stringify({ traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }), true],
  ['of no trace', null, false],
  ['whose trace is unreadable', '{"traceparent": 7', false],
])('a sample that a dispatcher left behind, %s, is sent', async (_, trace, isTraced) => {
  const turnId = await storeCapture(service, 'left');
  await send('turnUnhinted', turnId, unhintedTurn({ responseId: 'left' }));
  await eventually(hasSample(turnId));
  const left = randomUUID();
  const message = (await published(nats.url, 'sampleReady')).find((one) => one.turnId === turnId)!;
  const body = Buffer.from(JSON.stringify(message.body)).toString('hex');
  await query(
    databaseUrl,
    `INSERT INTO outbox ("turnId", tenant, body, trace, "createdAt")
      VALUES ('${left}', 'acme', '\\x${body}', ${trace === null ? 'NULL' : `'${trace}'`}, '2026-01-01')`,
  );
  await eventually(hasSample(left));
  const { traceparent } = await newestHeaders(connection, sampleReady);
  if (isTraced) expect(traceparent).toContain('a'.repeat(32));
  else expect(traceparent).toBeUndefined();
});

test('a turn that waited for the outcome of its session is decided in its own trace, with a link to the outcome', async () => {
  const [trace, outcome] = [newTrace(), newTrace()];
  const sessionId = randomBytes(8).toString('hex');
  const turnId = await storeCapture(service, 'held');
  const ids = { responseId: 'held', sessionId, outcomePending: true };
  await send('turnCaptured', turnId, capturedTurn(ids));
  await send('turnPaired', turnId, pairedTurn(ids));
  await send('turnUnhinted', turnId, unhintedTurn(ids), trace);
  await eventually(
    async () => (await query(databaseUrl, `SELECT FROM held_turns WHERE "turnId" = '${turnId}'`)).length === 1,
  );
  await send('sessionOutcome', null, { sessionId, reward: 1, comment: null }, outcome);
  const decision = await gate(turnId);
  expect(decision.traceId).toBe(traceIdOf(trace));
  expect(decision.links.map(({ traceId }) => traceId)).toEqual([traceIdOf(outcome)]);
});
