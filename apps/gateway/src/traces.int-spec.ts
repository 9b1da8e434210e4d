import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contracts } from '@hindcast/contracts';
import type { CollectedSpan } from '../../../libs/platform/src/testing/collected-spans';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { newestHeaders } from '../../../libs/platform/src/testing/stream';
import { TraceCollector } from '../../../libs/platform/src/testing/trace-collector';
import { answerOf, FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, userSays } from './testing/gateway-harness';
import { startGatewayProcess, type GatewayProcess } from './testing/gateway-process';

describe('a turn in its trace, whoever writes down how it ends', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let bus: BusReader;
  let collector: TraceCollector;
  let folder: string;
  let gateway: GatewayProcess;
  const processes: GatewayProcess[] = [];

  const start = async (name: string, env: Record<string, string> = {}): Promise<GatewayProcess> => {
    const started = await startGatewayProcess({
      NATS_URL: nats.url,
      POLICY_BASE_URL: engine.url,
      DATA_DIR: join(folder, name),
      SESSION_SECRET: 'a secret of all gateways',
      ...env,
    });
    processes.push(started);
    await eventually(async () => (await (await fetch(`${started.url}/readyz`)).text()).includes('"degraded":[]'));
    return started;
  };
  const traced = (name: string, env: Record<string, string> = {}): Promise<GatewayProcess> =>
    start(name, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '20',
      ...env,
    });

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    bus = await BusReader.connect(nats.url);
    collector = await TraceCollector.start();
    folder = mkdtempSync(join(tmpdir(), 'hindcast-gateway-traces-'));
    engine.script = (call) => engine.answer(call, answerOf('Hello'));
    gateway = await traced('a');
  });
  afterAll(async () => {
    for (const { kill } of processes) kill('SIGKILL');
    await Promise.all(processes.map(({ ended }) => ended));
    await bus.close();
    await engine.stop();
    await collector.stop();
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** @param trace first hex digit of all ids of the caller */
  const ask = async (to: GatewayProcess, trace: string, messages: object[]): Promise<string> => {
    const response = await fetch(`${to.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: traceparent(trace), tracestate: 'rojo=1' },
      body: JSON.stringify({ messages }),
    });
    await response.text();
    return response.headers.get('x-hindcast-turn-id')!;
  };
  const traceparent = (digit: string): string => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
  const spanOf = (name: string, turnId: string): Promise<CollectedSpan> =>
    eventually(async () =>
      collector.spans().find((span) => span.name === name && span.attributes['hindcast.turn.id'] === turnId),
    );

  it('the request continues its caller’s trace, and so do the engine’s call and the capture', async () => {
    const turnId = await ask(gateway, 'a', userSays('one'));
    const server = await spanOf('POST /v1/chat/completions', turnId);
    expect(server).toMatchObject({ kind: 'server', traceId: 'a'.repeat(32), parentSpanId: 'a'.repeat(16) });
    expect(server.attributes).toMatchObject({ 'http.response.status_code': 200, 'http.route': '/v1/chat/completions' });
    const call = await eventually(async () => collector.spans().find(({ kind }) => kind === 'client'));
    expect(call).toMatchObject({ traceId: server.traceId, parentSpanId: server.spanId, hasFailed: false });
    const { traceparent: told, tracestate } = engine.calls.at(-1)!.headers;
    expect([told, tracestate]).toEqual([`00-${server.traceId}-${call.spanId}-01`, 'rojo=1']);
    const capture = await spanOf('capture', turnId);
    expect(capture).toMatchObject({ traceId: server.traceId, parentSpanId: server.spanId });
    const { subject } = contracts.turnCaptured;
    const sent = await eventually(async () =>
      collector
        .spans()
        .find(({ name, parentSpanId }) => name === `publish ${subject}` && parentSpanId === capture.spanId),
    );
    expect(await newestHeaders(bus.raw, subject)).toMatchObject({
      traceparent: `00-${server.traceId}-${sent.spanId}-01`,
      tracestate: 'rojo=1',
    });
  });

  it('its pair belongs to its own trace, with a link to the request that brought the next state', async () => {
    const turnId = await ask(gateway, 'b', userSays('two'));
    const nextId = await ask(gateway, 'c', userSays('two', 'Hello', 'and?'));
    const pair = await spanOf('pair', turnId);
    const capture = await spanOf('capture', turnId);
    const next = await spanOf('POST /v1/chat/completions', nextId);
    expect(pair).toMatchObject({ traceId: 'b'.repeat(32), parentSpanId: capture.spanId });
    expect(pair.links).toEqual([{ traceId: 'c'.repeat(32), spanId: next.spanId }]);
    expect((await newestHeaders(bus.raw, contracts.turnPaired.subject))['traceparent']).toContain('b'.repeat(32));
  });

  it('also where a gateway dies over it and another one finds what it wrote', async () => {
    const dying = await traced('dying', { CRASH_AT: 'after-claim' });
    const turnId = await ask(dying, 'd', userSays('three'));
    await ask(dying, 'e', userSays('three', 'Hello', 'and?')).catch(() => undefined);
    await dying.ended;
    const pair = await spanOf('pair', turnId);
    expect(pair.traceId).toBe('d'.repeat(32));
    expect(pair.links).toMatchObject([{ traceId: 'e'.repeat(32) }]);
  });

  it('a gateway that does not trace hands the caller’s headers to the engine and puts none on the bus', async () => {
    const silent = await start('silent');
    const turnId = await ask(silent, 'f', userSays('four'));
    await bus.messageOf('turnCaptured', turnId);
    expect(engine.calls.at(-1)!.headers).toMatchObject({ traceparent: traceparent('f'), tracestate: 'rojo=1' });
    expect(Object.keys(await newestHeaders(bus.raw, contracts.turnCaptured.subject))).toEqual(['Nats-Msg-Id']);
  });
});
