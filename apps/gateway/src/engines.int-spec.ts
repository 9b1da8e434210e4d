import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine, sendJson, type EngineCall } from './testing/fake-engine';
import { eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

const FAR = '3600000';

describe('several engines', () => {
  let nats: NatsServer;
  let engines: FakeEngine[];
  let gateway: RunningGateway;

  beforeAll(async () => {
    nats = await startNatsServer();
  });
  afterAll(() => nats.stop());
  beforeEach(async () => {
    engines = [await FakeEngine.start(), await FakeEngine.start()];
  });
  afterEach(async () => {
    await gateway.stop();
    await Promise.all(engines.map((engine) => engine.stop().catch(() => undefined)));
  });

  const start = async (env: Record<string, string> = {}, count = 2): Promise<RunningGateway> => {
    gateway = await startTestGateway({
      NATS_URL: nats.url,
      POLICY_BASE_URL: engines
        .slice(0, count)
        .map(({ url }) => url)
        .join(),
      // Far away, so that only what a test asks for happens.
      POLICY_HEALTH_MS: FAR,
      POLICY_BREAKER_PAUSE_MS: FAR,
      ...env,
    });
    return gateway;
  };
  const ask = (body: object = {}, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> =>
    gateway.chat({ messages: userSays('hi'), ...body }, headers, signal);
  const calls = (): number[] => engines.map((engine) => engine.calls.length);
  const fails =
    (status: number, headers: Record<string, string> = {}) =>
    (call: EngineCall): void =>
      sendJson(call.response, status, { error: { message: `said ${status}`, type: 'x', code: status } }, headers);
  const cuts = (call: EngineCall): void => void call.response.socket!.destroy();
  const degraded = async (): Promise<string> =>
    ((await (await fetch(`${gateway.url}/readyz`)).json()) as { degraded: string[] }).degraded.join();
  const label = (engine: FakeEngine): string => new URL(engine.url).host;

  it('the least busy is asked, equals take turns', async () => {
    await start();
    for (let i = 0; i < 4; i++) await (await ask()).text();
    expect(calls()).toEqual([2, 2]);
    let finish = (): void => undefined;
    engines[0]!.script = (call) => (finish = () => engines[0]!.answer(call, answerOf('late')));
    engines[1]!.script = (call) => engines[1]!.answer(call, answerOf('soon'));
    const first = ask();
    await eventually(async () => engines[0]!.calls.length === 3);
    await (await ask()).text();
    expect(await gateway.metric('engine_in_flight', label(engines[0]!))).toBe(1);
    for (let i = 0; i < 3; i++) await (await ask()).text();
    expect(calls()).toEqual([3, 6]);
    finish();
    await (await first).text();
    expect(await gateway.metric('engine_in_flight')).toBe(0);
  });

  describe('retries before the first byte', () => {
    it.each([429, 503, 502, 504])('%d: another engine answers, and the client sees no failure', async (status) => {
      await start();
      for (const engine of engines) {
        let isFirst = true;
        engine.script = (call) => {
          if (isFirst && calls().reduce((a, b) => a + b) === 1) return fails(status, { 'retry-after': '60' })(call);
          isFirst = false;
          engine.answer(call, answerOf('fine'));
        };
      }
      const response = await ask({ stream: true });
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('[DONE]');
      expect(calls()).toEqual([1, 1]);
      expect(await gateway.metric('engine_retries_total', `status-${status}`)).toBe(1);
    });

    it('one engine: as many attempts as allowed, then the last answer with its Retry-After', async () => {
      await start({ POLICY_RETRIES: '2' }, 1);
      engines[0]!.script = (call) => fails(503, { 'retry-after': '0', 'x-number': String(calls()[0]) })(call);
      const response = await ask();
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '0']);
      expect(await response.text()).toContain('said 503');
      expect(calls()[0]).toBe(3);
    });

    it('an engine that asks for a longer pause than the limit is asked once', async () => {
      await start({}, 1);
      engines[0]!.script = fails(429, { 'retry-after': '30' });
      const response = await ask();
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '30']);
      expect(calls()[0]).toBe(1);
    });

    it('D42 POLICY_RETRIES=0: a 503 before the first byte is exactly one call', async () => {
      await start({ POLICY_RETRIES: '0' });
      for (const engine of engines) engine.script = fails(503);
      for (const stream of [false, true]) expect((await ask({ stream })).status).toBe(503);
      expect(calls()).toEqual([1, 1]);
    });

    it('D22 a 500 is one call and a clean 502', async () => {
      await start();
      for (const engine of engines)
        engine.script = (call) => call.response.writeHead(500).end('ValueError: Out of range float values');
      const response = await ask();
      expect(response.status).toBe(502);
      expect(await response.json()).toMatchObject({ error: { code: 'engine-invalid-response' } });
      expect(calls().reduce((a, b) => a + b)).toBe(1);
    });

    it('a retry of the client’s own takes one of ours, and its count stays here', async () => {
      await start({ POLICY_RETRIES: '2' }, 1);
      engines[0]!.script = fails(503, { 'retry-after': '0' });
      await ask({}, { 'x-stainless-retry-count': '1' });
      expect(calls()[0]).toBe(2);
      await ask({}, { 'x-stainless-retry-count': '2' });
      expect(calls()[0]).toBe(3);
      expect(engines[0]!.calls.map(({ rawHeaders }) => rawHeaders).join()).not.toContain('stainless');
    });

    it.each([
      { env: {}, body: {}, attempts: 1, why: 'the request may be what killed the engine' },
      { env: { POLICY_RETRY_CUT: '1' }, body: {}, attempts: 2, why: 'wanted, but once' },
      { env: { POLICY_RETRY_CUT: '1' }, body: { store: true }, attempts: 1, why: 'it would be kept twice' },
    ])('a connection cut before the answer, $env $body: $attempts calls, $why', async ({ env, body, attempts }) => {
      await start(env as Record<string, string>);
      for (const engine of engines) engine.script = cuts;
      const response = await ask(body);
      expect(response.status).toBe(502);
      expect(calls().reduce((a, b) => a + b)).toBe(attempts);
    });

    it('nothing is sent again once the answer has begun', async () => {
      await start({ POLICY_RETRY_CUT: '1' });
      for (const engine of engines)
        engine.script = (call) => {
          engine.openStream(call);
          call.response.write(engine.events(call, answerOf('one two'))[0]);
          setImmediate(() => call.response.socket!.destroy());
        };
      expect(await (await ask({ stream: true })).text()).toContain('engine-stream-broken');
      expect(calls().reduce((a, b) => a + b)).toBe(1);
    });

    it('a client that leaves in the pause between two attempts: there is no second one', async () => {
      await start({ POLICY_RETRY_MAX_WAIT_MS: '60000' }, 1);
      engines[0]!.script = fails(503, { 'retry-after': '30' });
      const leaving = new AbortController();
      const answer = ask({}, {}, leaving.signal);
      await eventually(async () => (await gateway.metric('engine_retries_total')) === 1);
      expect(await gateway.metric('engine_in_flight')).toBe(0);
      leaving.abort();
      await expect(answer).rejects.toThrow();
      await eventually(async () => (await gateway.metric('chat_requests_total', 'status="499"')) === 1);
      expect(calls()[0]).toBe(1);
    });
  });

  describe('health', () => {
    it('an engine that nobody can reach costs no request, and is named', async () => {
      await start();
      const gone = label(engines[0]!);
      await eventually(async () => (await gateway.metric('engine_healthy')) === 2);
      await engines[0]!.stop();
      for (let i = 0; i < 4; i++) expect((await ask()).status).toBe(200);
      expect(await degraded()).toContain(`engine ${gone}`);
      // The first one that found nobody there; after it the other engine goes first.
      expect(await gateway.metric('engine_retries_total', 'unreachable')).toBe(1);
      expect(await gateway.metric('engine_healthy', gone)).toBe(0);
    });

    it('an engine that fails its health check gets no request while another passes, and gets them again after', async () => {
      await start({ POLICY_HEALTH_MS: '50' });
      engines[0]!.health = 503;
      await eventually(async () => (await gateway.metric('engine_healthy')) === 1);
      for (let i = 0; i < 4; i++) await (await ask()).text();
      expect(calls()).toEqual([0, 4]);
      engines[1]!.health = 500;
      await eventually(async () => (await gateway.metric('engine_healthy')) === 0);
      expect((await ask()).status).toBe(200);
      engines[0]!.health = 404;
      engines[1]!.health = 200;
      await eventually(async () => (await degraded()) === '');
    });
  });

  describe('breaker', () => {
    const brokenBy = async (script: (call: EngineCall) => unknown, requests: number): Promise<void> => {
      engines[0]!.script = script;
      for (let i = 0; i < requests; i++) await (await ask()).text();
    };

    it('opens after failures in a row: others answer, and with none left 503 at once', async () => {
      await start({ POLICY_BREAKER_FAILURES: '2', POLICY_RETRIES: '0' }, 1);
      await brokenBy(fails(500), 2);
      expect(await gateway.metric('engine_breaker')).toBe(2);
      const response = await ask();
      expect([response.status, Number(response.headers.get('retry-after'))]).toEqual([503, Number(FAR) / 1_000]);
      expect(((await response.json()) as { error: object }).error).toMatchObject({ code: 'engine-unreachable' });
      expect(calls()[0]).toBe(2);
      expect(await degraded()).toContain('left alone');
    });

    it('a success in between keeps it closed, and so do 4xx and 501', async () => {
      await start({ POLICY_BREAKER_FAILURES: '2', POLICY_RETRIES: '0' }, 1);
      await brokenBy(fails(500), 1);
      await brokenBy((call) => engines[0]!.answer(call, answerOf('fine')), 1);
      await brokenBy(fails(500), 1);
      for (const status of [400, 404, 501]) await brokenBy(fails(status), 1);
      await brokenBy(fails(500), 1);
      expect(await gateway.metric('engine_breaker')).toBe(0);
    });

    it('answers that always break off open it too', async () => {
      await start({ POLICY_BREAKER_FAILURES: '3', POLICY_RETRIES: '0' }, 1);
      engines[0]!.script = (call) => {
        engines[0]!.openStream(call);
        call.response.write(engines[0]!.events(call, answerOf('one two'))[0]);
        setImmediate(() => call.response.socket!.destroy());
      };
      for (let i = 0; i < 3; i++) await (await ask({ stream: true })).text();
      expect(await gateway.metric('engine_breaker')).toBe(2);
    });

    it('clients that leave do not open it', async () => {
      await start({ POLICY_BREAKER_FAILURES: '1', POLICY_RETRIES: '0' }, 1);
      engines[0]!.script = () => undefined;
      const leaving = new AbortController();
      const answer = ask({}, {}, leaving.signal);
      const call = await eventually(async () => engines[0]!.calls[0]);
      leaving.abort();
      await expect(answer).rejects.toThrow();
      await call.aborted;
      await eventually(async () => (await gateway.metric('engine_in_flight')) === 0);
      expect(await gateway.metric('engine_breaker')).toBe(0);
    });

    it('after the pause one request tries; its success closes it', async () => {
      await start({ POLICY_BREAKER_FAILURES: '1', POLICY_RETRIES: '0', POLICY_BREAKER_PAUSE_MS: '400' }, 1);
      await brokenBy(fails(500), 1);
      let finish = (): void => undefined;
      engines[0]!.script = (call) => (finish = () => engines[0]!.answer(call, answerOf('back')));
      // Refused until the pause is over; the one that gets through waits at the engine.
      const arrived = eventually(async () => engines[0]!.calls.length === 2);
      let answer = ask();
      while ((await Promise.race([answer, arrived])) !== true) answer = ask();
      expect(await gateway.metric('engine_breaker')).toBe(1);
      finish();
      expect((await answer).status).toBe(200);
      expect(await gateway.metric('engine_breaker')).toBe(0);
    });

    it('an engine that died is back as soon as its health check says so', async () => {
      await start({ POLICY_BREAKER_FAILURES: '1', POLICY_RETRIES: '0', POLICY_HEALTH_MS: '50' }, 1);
      engines[0]!.health = 503;
      await brokenBy(cuts, 1);
      expect(await gateway.metric('engine_breaker')).toBe(2);
      engines[0]!.script = (call) => engines[0]!.answer(call, answerOf('fine'));
      engines[0]!.health = 200;
      await eventually(async () => (await gateway.metric('engine_breaker')) === 0);
      expect((await ask()).status).toBe(200);
    });
  });
});
