import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Log } from './log';
import { NO_SPAN, activeSpan, inSpan, isTracing, startHttpCall, startSpan, startTrace, startTracing } from './tracing';

/** Runs a program with `startTracing`, `startTrace` and a `log` that prints events, in a process of its own. @returns its lines */
async function lines(program: string, env: Record<string, string> = {}): Promise<string[]> {
  const head = `
    const { startTracing, startTrace } = require(${JSON.stringify(join(__dirname, 'tracing.ts'))});
    const said = [];
    const say = (event) => { said.push(event); console.log(event); };
    const log = { warn: say, info: say };`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['-r', join(__dirname, 'testing/register.cjs'), '-e', `${head}(async () => {${program}; process.exit();})()`],
    { env: { ...process.env, ...env } },
  );
  return stdout.split('\n').filter((line) => line !== '');
}

it.each<[string, boolean]>([
  ['{}', false],
  ["{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }", false],
  ["{ OTEL_TRACES_EXPORTER: 'otlp' }", true],
])('with %s OpenTelemetry is loaded: %s', async (settings, isLoaded) => {
  const [count] = await lines(`
    startTracing('gateway', ${settings}, log);
    startTrace('anything').end();
    console.log(Object.keys(require.cache).filter((path) => path.includes('@opentelemetry')).length)`);
  expect(Number(count) > 0).toBe(isLoaded);
});

it('makes no span while it is off, and does the work', async () => {
  const stop = startTracing('gateway', {}, {} as Log);
  expect(isTracing()).toBe(false);
  const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  expect(startTrace('a', {}, trace)).toBe(NO_SPAN);
  expect(startSpan('a', {}, trace)).toBe(NO_SPAN);
  expect(startHttpCall('POST', 'http://engine', trace)).toBe(NO_SPAN);
  expect(await inSpan('a', {}, (span) => Promise.resolve([span, activeSpan()]), trace)).toEqual([NO_SPAN, NO_SPAN]);
  await stop(0);
});

describe('a collector', () => {
  let server: Server;
  let types: (string | undefined)[];
  let answer: ((request: IncomingMessage) => number | null) | null;
  let env: Record<string, string>;

  beforeEach(async () => {
    types = [];
    server = createServer((request, response) => {
      types.push(request.headers['content-type']);
      const status = answer!(request);
      request.resume();
      if (status !== null) response.writeHead(status).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: '5' };
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('that refuses what it gets fails nothing, is named once, and once more when it takes it', async () => {
    answer = () => (types.length <= 2 ? 400 : 200);
    const said = await lines(
      `const stop = startTracing('gateway', { OTEL_TRACES_EXPORTER: 'otlp' }, log);
       while (!said.includes('traces.sent-again')) { startTrace('work').end(); await new Promise((done) => setTimeout(done, 50)); }
       await stop(1000)`,
      env,
    );
    expect(types.length).toBeGreaterThanOrEqual(3);
    expect(said).toEqual(['traces.not-sent', 'traces.sent-again']);
  });

  it('that never answers holds the end up no longer than is allowed', async () => {
    answer = () => null;
    const said = await lines(
      `const stop = startTracing('gateway', { OTEL_TRACES_EXPORTER: 'otlp' }, log);
       startTrace('work').end();
       await stop(50);
       console.log('ended')`,
      { ...env, OTEL_EXPORTER_OTLP_TIMEOUT: '3600000' },
    );
    expect(said).toEqual(['ended']);
  });

  it('gets protobuf unless it is to get JSON, and what is left at the end', async () => {
    answer = () => 200;
    for (const protocol of ["'http/protobuf'", "'http/json'", 'undefined'])
      await lines(
        `const stop = startTracing('gateway', { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_PROTOCOL: ${protocol} }, log);
         startTrace('work').end();
         await stop(5000)`,
        { ...env, OTEL_BSP_SCHEDULE_DELAY: '3600000' },
      );
    expect(types).toEqual(['application/x-protobuf', 'application/json', 'application/x-protobuf']);
  });
});
