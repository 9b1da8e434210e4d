import { once } from 'node:events';
import { connect } from 'node:net';
import { Controller, Get, HttpException, Module, Post, Body } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import { HindcastError, contracts } from '@hindcast/contracts';
import { startService, type RunningService } from './bootstrap';
import { Bus } from './bus';
import { CommonConfig, parseConfig } from './config';
import { Health } from './health';
import { Metrics } from './metrics';
import { startNatsServer, type NatsServer } from './testing/nats-server';
import { sampleMessage } from './testing/samples';
import { startTrainer } from './testing/trainer';
import { until } from './testing/until';

@Controller()
class EdgeController {
  @Post('echo')
  echo(@Body() body: object): object {
    return body;
  }
  @Get('secret')
  secret(): void {
    throw new Error('password is hunter2');
  }
  @Get('ledger')
  ledger(): void {
    throw new HindcastError('ledger-unavailable', 'the ledger does not answer');
  }
  @Get('teapot')
  teapot(): void {
    throw new HttpException({ error: { message: 'm', type: 't', code: 'c', param: null } }, 418);
  }
}
@Module({ controllers: [EdgeController] })
class EdgeModule {}

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('the HTTP edge', () => {
  let service: RunningService;
  let url: string;
  beforeAll(async () => {
    service = await startService({
      app: 'engine',
      config: parseConfig('engine', CommonConfig, { LOG_LEVEL: 'silent' }),
      module: EdgeModule,
      bus: false,
      bodyLimitBytes: 2_000_000,
      announce: () => undefined,
    });
    url = `http://127.0.0.1:${service.port}`;
  });
  afterAll(() => service.close());

  const json = { 'content-type': 'application/json' };
  it.each([
    ['no such path', '/nope', {}, 404, 'not-found'],
    ['a wrong method', '/echo', {}, 404, 'not-found'],
    ['broken JSON', '/echo', { method: 'POST', headers: json, body: '{"a":' }, 400, 'invalid-json'],
    ['an empty body', '/echo', { method: 'POST', headers: json }, 400, 'invalid-json'],
    [
      'more values than memory holds',
      '/echo',
      { method: 'POST', headers: json, body: `[${'{},'.repeat(500_000)}0]` },
      413,
      'body-too-large',
    ],
    [
      'a form',
      '/echo',
      { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=1' },
      415,
      'invalid-request',
    ],
    [
      'a body over the limit',
      '/echo',
      { method: 'POST', headers: json, body: `"${'x'.repeat(2_000_000)}"` },
      413,
      'body-too-large',
    ],
    [
      'another media type',
      '/echo',
      { method: 'POST', headers: { 'content-type': 'application/xml' }, body: '<a/>' },
      415,
      'invalid-request',
    ],
    ['257 levels', '/echo', { method: 'POST', headers: json, body: nested(257) }, 400, 'invalid-request'],
    ['100000 levels', '/echo', { method: 'POST', headers: json, body: nested(100_000) }, 400, 'invalid-request'],
    ['a URL that cannot be decoded', '/%zz', {}, 400, 'invalid-request'],
    ['an error of ours', '/ledger', {}, 503, 'ledger-unavailable'],
    ['a bug', '/secret', {}, 500, 'internal'],
    ['an error in the right shape already', '/teapot', {}, 418, 'c'],
  ])('answers %s in the OpenAI shape', async (_, path, init: RequestInit, status, code) => {
    const response = await fetch(url + path, init);
    const body = (await response.json()) as { error: Record<string, unknown> };
    expect([response.status, Object.keys(body.error).sort()]).toEqual([status, ['code', 'message', 'param', 'type']]);
    expect(body.error['code']).toBe(code);
    expect(JSON.stringify(body)).not.toContain('hunter2');
  });

  it('takes names that objects of JavaScript have from their prototype', async () => {
    const body = '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}},"a":[{"__proto__":1}]}';
    const response = await fetch(`${url}/echo`, { method: 'POST', headers: json, body });
    expect(await response.text()).toBe(body);
    expect('isAdmin' in {}).toBe(false);
  });

  it('answers an expectation that nobody can meet in the OpenAI shape', async () => {
    const socket = connect(service.port, '127.0.0.1');
    socket.write('POST /echo HTTP/1.1\r\nHost: x\r\nExpect: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 417 [^]*"error":\{"message":"[^"]+","type":"invalid_request_error"/);
    socket.destroy();
  });

  it('takes as many levels as a request may have', async () => {
    const response = await fetch(`${url}/echo`, { method: 'POST', headers: json, body: nested(256) });
    expect(await response.text()).toBe(nested(256));
  });

  // Closing on a client that still sends resets its connection, often before it has read why.
  it.each([
    ['with its length', (body: Buffer) => `Content-Length: ${body.length}`],
    ['in chunks', () => 'Transfer-Encoding: chunked'],
  ])('D54 reads the rest of a body that is too large, sent %s', async (_, framing) => {
    const body = Buffer.alloc(4_000_000, 'x');
    const socket = connect({ port: service.port, host: '127.0.0.1' });
    const isChunked = framing(body).startsWith('Transfer');
    socket.write(`POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${framing(body)}\r\n\r\n`);
    if (isChunked) socket.write(`${body.length.toString(16)}\r\n`);
    socket.write(body.subarray(0, 2_400_000));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 413 [^]*"code":"body-too-large"/);
    socket.write(body.subarray(2_400_000));
    if (isChunked) socket.write('\r\n0\r\n\r\n');
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const [next] = (await once(socket, 'data')) as [Buffer];
    expect(next.toString()).toMatch(/^HTTP\/1.1 200 /);
    socket.destroy();
  });

  it('answers what is not HTTP, and goes on', async () => {
    const socket = connect(service.port, '127.0.0.1');
    socket.end('NOT HTTP\r\n\r\n');
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect(data.toString()).toMatch(/^HTTP\/1.1 400 [^]*"code":"invalid-request"/);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it('names on /readyz what a check waits for', async () => {
    service.app.get(Health).addCheck('database', () => Promise.reject(new Error('connection refused')));
    const response = await fetch(`${url}/readyz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ ready: false, waiting: ['database: connection refused'] });
  });

  it('exports metrics under our prefix', async () => {
    const metrics = service.app.get(Metrics);
    metrics.counter('probes_total', 'Probes', ['kind']).inc({ kind: 'a' });
    metrics.counter('probes_total', 'Probes', ['kind']).inc({ kind: 'a' });
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(text).toContain('hindcast_probes_total{kind="a",app="engine"} 2');
    expect(text).toContain('process_cpu_user_seconds_total');
    expect(text).toMatch(/^hindcast_build_info\{version="\d+\.\d+\.\d+",app="engine"\} 1$/m);
  });

  it('says on /metrics what /readyz says', async () => {
    const health = service.app.get(Health);
    const scrape = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
    health.removeCheck('database');
    expect(await scrape()).toMatch(/^hindcast_service_ready\{app="engine"\} 1$/m);
    health.addCheck('database', () => Promise.reject(new Error('connection refused')));
    health.addOptionalCheck('teacher', () => Promise.reject(new Error('away')));
    const text = await scrape();
    expect(text).toMatch(/^hindcast_service_ready\{app="engine"\} 0$/m);
    expect(text).toMatch(/^hindcast_service_degraded_checks\{app="engine"\} 1$/m);
  });
});

describe('with a bus', () => {
  let server: NatsServer;
  beforeAll(async () => (server = await startNatsServer()));
  afterAll(() => server.stop());

  const start = (module: new () => object): Promise<RunningService> =>
    startService({
      app: 'trainer',
      config: parseConfig('trainer', CommonConfig, { NATS_URL: server.url, LOG_LEVEL: 'silent' }),
      module,
      announce: () => undefined,
    });

  it('refuses to start without the handler that the contracts give the app', async () => {
    await expect(start(EdgeModule)).rejects.toThrow('trainer has no handler for rl.v1.sample.ready');
  });

  it('refuses to start with two handlers of a subject, or one of a subject that is not its own', async () => {
    @Controller()
    class WrongController {
      @EventPattern(contracts.sampleReady.subject)
      first(): void {}
      @EventPattern(contracts.sampleReady.subject)
      second(): void {}
      @EventPattern(contracts.turnPaired.subject)
      foreign(): void {}
    }
    @Module({ controllers: [WrongController] })
    class WrongModule {}
    const refused = expect(start(WrongModule)).rejects;
    await refused.toThrow(/two handlers for rl.v1.sample.ready; trainer handles rl.v1.turn.paired/);
  });

  it('counts messages and shows what is not settled yet', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let calls = 0;
    const service = await startTrainer(server.url, async () => {
      calls++;
      await held;
    });
    const scrape = async (): Promise<string> => (await fetch(`http://127.0.0.1:${service.port}/metrics`)).text();
    for (let i = 0; i < 3; i++) await service.app.get(Bus).publish('sampleReady', sampleMessage());
    await until(() => calls === 3);
    // Where the server takes its time to answer, a scrape goes without the lag.
    await until(async () =>
      (await scrape()).includes('hindcast_consumer_lag{durable="trainer--rl-v1-sample-ready",app="trainer"} 3'),
    );
    const text = await scrape();
    expect(text).toContain('hindcast_messages_total{subject="rl.v1.sample.ready",outcome="dead",app="trainer"} 0');
    expect(text).toContain('# TYPE hindcast_dead_letters_total counter');
    release();
    await until(async () => (await scrape()).includes('outcome="acked",app="trainer"} 3'));
    await until(async () =>
      (await scrape()).includes('hindcast_consumer_lag{durable="trainer--rl-v1-sample-ready",app="trainer"} 0'),
    );
    await service.close();
  });
});
