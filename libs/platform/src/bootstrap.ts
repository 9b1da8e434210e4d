import 'reflect-metadata';
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { MicroserviceOptions } from '@nestjs/microservices';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { HindcastError, type AppName } from '@hindcast/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Attempts } from './attempts';
import { shownServers } from './core/server-list';
import { checkDepth } from './body-depth';
import { Bus } from './bus';
import { resolvedConfigForLog, type CommonConfig } from './config';
import { SECOND_MS } from './durations';
import { ErrorFilter } from './error.filter';
import { httpErrorOf, openAiError } from './http-error';
import { Health } from './health';
import { longJson } from './json-body';
import { JetStreamStrategy } from './jetstream.strategy';
import { Log, NestLog } from './log';
import { Metrics } from './metrics';
import { Nats } from './nats';
import { OpenRequests, isOperation } from './open-requests';
import { PlatformModule } from './platform.module';
import { readJson } from './request-body';
import type { RequestMemory } from './request-memory';
import { serviceReporter } from './service-report';
import { closer, onSignals } from './shutdown';
import { DEFAULT_TIMING, type ConsumerTiming } from './subject-consumer';
import { startTracing } from './tracing';
import { traceRequests } from './tracing-http';

const DEFAULT_BODY_LIMIT_BYTES = 16 * 1024 * 1024;
/** How long a client may go on sending a body that was refused. */
const LINGER_MS = 30 * SECOND_MS;
const NATS_CHECK = 'nats';

export interface ServiceOptions {
  readonly app: AppName | 'engine' | 'demo-judge';
  /** The app's parsed config; logged at the start with secrets removed. */
  readonly config: CommonConfig;
  readonly module: Type<unknown> | DynamicModule;
  /** Connect to NATS and attach the app's `@EventPattern` handlers. Default true. */
  readonly bus?: boolean;
  /** Ready only once NATS answers. `false` for who serves without it: `/readyz` then names it under `degraded`. Default true. */
  readonly waitForBus?: boolean;
  /** Largest request body, bytes. Default 16 MiB. */
  readonly bodyLimitBytes?: number;
  /** Reads a long body in JSON, which holds what is taken of `memory`; `undefined` leaves it to the server's own parser. Default: `longJson`. */
  readonly readLongBody?: (bytes: Buffer, memory: RequestMemory) => unknown;
  /** Runs while `/healthz` answers already and every other path answers 503, e.g. to open the database. */
  readonly prepare?: (app: NestFastifyApplication) => Promise<void>;
  /** Where the `ready` and `waiting` lines go. Default: stdout. */
  readonly announce?: (line: Record<string, unknown>) => void;
  readonly timing?: Partial<ConsumerTiming>;
  /** In place of `SHUTDOWN_SECONDS`, milliseconds. */
  readonly shutdownMs?: number;
}

export interface RunningService {
  readonly port: number;
  readonly app: NestFastifyApplication;
  /** Drains as on SIGTERM, without ending the process. */
  close(): Promise<void>;
}

@Module({})
class RootModule {}

/**
 * Starts one service: HTTP first, then what it waits for, then its handlers; prints the ready line last.
 *
 * @throws when it cannot run: port taken, handlers that differ from the contracts, `prepare` failed. The caller's process then ends.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { config } = options;
  const bus = options.bus ?? true;
  const announce = options.announce ?? ((line) => void process.stdout.write(`${JSON.stringify(line)}\n`));
  const stopTracing = startTracing(options.app, config, new Log(options.app, config.LOG_LEVEL));
  const app = await createApp(options);
  const [log, health, nats] = [app.get(Log), app.get(Health), app.get(Nats)];
  log.info('config', { config: resolvedConfigForLog(config) });
  const state = { started: false };
  health.addCheck('start', () => {
    if (!state.started) throw new Error('starting');
  });
  const strategy = bus ? attachStrategy(app, options) : null;
  traceRequests(app);
  gateUntilStarted(app, state);
  const close = closer(app, strategy, {
    delayMs: config.SHUTDOWN_DELAY_SECONDS * SECOND_MS,
    limitMs: options.shutdownMs ?? config.SHUTDOWN_SECONDS * SECOND_MS,
    stopTracing,
  });
  try {
    await app.init();
    const mistakes = strategy?.mistakes() ?? [];
    if (mistakes.length > 0) throw new HindcastError('config-invalid', mistakes.join('; '));
    if (bus) {
      const check = (): void => {
        if (nats.reason !== null) throw new Error(nats.reason);
      };
      if (options.waitForBus ?? true) health.addCheck(NATS_CHECK, check);
      else health.addOptionalCheck(NATS_CHECK, check);
      app.get(Bus).answerSurvey('services', serviceReporter(options.app, config, health));
      nats.start();
    }
    await app.listen(config.PORT, config.HOST);
    const port = (app.getHttpServer().address() as AddressInfo).port;
    const stopListening = onSignals(log, close);
    await options.prepare?.(app);
    if (bus && (options.waitForBus ?? true)) await busAnswers(nats, config.NATS_URL, options.app, announce);
    if (bus) await app.startAllMicroservices();
    state.started = true;
    announce({ event: 'ready', app: options.app, pid: process.pid, port });
    // Who serves without the bus says what is missing all the same.
    if (bus && options.waitForBus === false) void busAnswers(nats, config.NATS_URL, options.app, announce);
    return {
      port,
      app,
      close: async () => {
        stopListening();
        await close();
      },
    };
  } catch (error) {
    log.error('start.failed', { error });
    await close().catch(() => undefined);
    throw error;
  }
}

async function createApp(options: ServiceOptions): Promise<NestFastifyApplication> {
  const bodyLimit = options.bodyLimitBytes ?? DEFAULT_BODY_LIMIT_BYTES;
  const adapter = new FastifyAdapter({
    bodyLimit,
    // A streamed answer takes as long as it takes.
    requestTimeout: 0,
    connectionTimeout: 0,
    // While it shuts down, who still comes on an open connection is answered, and told to close it.
    return503OnClosing: false,
    // Nobody uses Express middleware.
    skipMiddie: true,
    // A URL or a request line that cannot be read never reaches the error filter.
    frameworkErrors: (error: Error, _request: FastifyRequest, reply: FastifyReply) => {
      const { status, body } = httpErrorOf(error);
      void reply.status(status).send(body);
    },
    clientErrorHandler: (error, socket) => {
      if (!socket.writable) return;
      const status = (error as NodeJS.ErrnoException).code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
      const body = JSON.stringify(openAiError(status, 'invalid-request', 'the request is not readable HTTP'));
      const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json\r\n`;
      socket.end(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    },
  });
  const log = new Log(options.app, options.config.LOG_LEVEL);
  const app = await NestFactory.create<NestFastifyApplication>(
    {
      module: RootModule,
      imports: [PlatformModule.forApp(options.app, options.config), options.module],
    } as DynamicModule,
    adapter,
    { logger: new NestLog(log), abortOnError: false, bodyParser: false },
  );
  app.get(OpenRequests).follow(app.getHttpServer() as Server);
  readJson(app, bodyLimit, options.readLongBody ?? longJson);
  answerExpectations(app);
  app.useGlobalFilters(new ErrorFilter(app.get(Log)));
  guardBodies(app);
  return app;
}

/** An `Expect` header other than `100-continue`; Node itself would answer it without a body. */
function answerExpectations(app: NestFastifyApplication): void {
  const server = app.getHttpServer() as Server;
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = openAiError(417, 'invalid-request', 'the header Expect may only be 100-continue');
    response.writeHead(417, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
}

function guardBodies(app: NestFastifyApplication): void {
  const server = app.getHttpAdapter().getInstance();
  // Hooks with callbacks: a promise for each of them and each request is not free.
  server.addHook('preValidation', (request, _reply, done) => {
    try {
      checkDepth(request.body);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
  // A connection that is closed on a client in the middle of its body is reset, and the client never reads why. The rest of the body
  // is read and thrown away instead.
  server.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode !== 413) return done(null, payload);
    reply.removeHeader('connection');
    const { raw } = request;
    const overdue = setTimeout(() => raw.destroy(), LINGER_MS).unref();
    raw.once('close', () => clearTimeout(overdue)).resume();
    done(null, payload);
  });
}

function attachStrategy(app: NestFastifyApplication, options: ServiceOptions): JetStreamStrategy {
  const strategy = new JetStreamStrategy(
    {
      app: options.app as AppName,
      maxDeliveries: options.config.MAX_DELIVERIES,
      timing: { ...DEFAULT_TIMING, ackWaitMs: options.config.ACK_WAIT_SECONDS * SECOND_MS, ...options.timing },
    },
    {
      nats: app.get(Nats),
      bus: app.get(Bus),
      log: app.get(Log),
      metrics: app.get(Metrics),
      attempts: new Attempts(app.get(Nats), options.config.NATS_REPLICAS),
    },
  );
  app.connectMicroservice<MicroserviceOptions>({ strategy }, { inheritAppConfig: true });
  return strategy;
}

/** Before the start is over only the operations' paths answer. */
function gateUntilStarted(app: NestFastifyApplication, state: { started: boolean }): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, reply, done) => {
      if (state.started || isOperation(request.url)) return done();
      const body = openAiError(503, 'dependency-unavailable', 'the service is starting');
      void reply.status(503).header('retry-after', '1').send(body);
    });
}

async function busAnswers(
  nats: Nats,
  url: string,
  app: string,
  announce: (line: Record<string, unknown>) => void,
): Promise<void> {
  const connected = nats.whenConnected().then(() => true);
  const patience = sleep(500, false, { ref: false });
  if (await Promise.race([connected, patience])) return;
  announce({ event: 'waiting', app, for: 'nats', url: shownServers(url), reason: nats.reason });
  await connected;
}
