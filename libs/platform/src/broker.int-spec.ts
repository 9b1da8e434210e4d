import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService, type RunningService } from './bootstrap';
import type { Broker } from './broker';
import { Bus } from './bus';
import { CommonConfig, parseConfig } from './config';
import type { Log } from './log';
import { Nats } from './nats';
import { makeAuthority } from './testing/authority';
import { startNatsServer, type NatsServer } from './testing/nats-server';
import { sampleMessage } from './testing/samples';
import { trainerModule } from './testing/trainer';
import { until } from './testing/until';

const PASSWORD = 'correct horse';

/** One service, and all that it said. */
interface Started {
  readonly said: Record<string, unknown>[];
  /** Once it is ready. */
  readonly service: Promise<RunningService>;
  readonly received: string[];
}

const running: Promise<RunningService>[] = [];

function start(env: Record<string, string>): Started {
  const said: Record<string, unknown>[] = [];
  const received: string[] = [];
  const service = startService({
    app: 'trainer',
    config: parseConfig('trainer', CommonConfig, { LOG_LEVEL: 'silent', ...env }),
    module: trainerModule(({ turnId }) => {
      received.push(turnId!);
      return Promise.resolve();
    }),
    announce: (line) => said.push(line),
    shutdownMs: 1_000,
  });
  running.push(service);
  return { said, service, received };
}

/** Why a broker cannot be used, as a service's log has it too. */
async function problemOf(broker: Broker): Promise<string | null> {
  const warned: unknown[] = [];
  const log = { warn: (event: string, fields: object) => warned.push({ event, ...fields }) } as unknown as Log;
  const nats = new Nats({ app: 'spec', replicas: 1, ...broker }, log);
  nats.start();
  await until(() => warned.length > 0);
  const { reason } = nats;
  expect(warned).toEqual([{ event: 'nats.unreachable', reason }]);
  await nats.close();
  return reason;
}

/** A message goes out and comes back. */
async function expectMessagesToPass({ service, received }: Started): Promise<void> {
  const message = sampleMessage();
  await (await service).app.get(Bus).publish('sampleReady', message);
  await until(() => received.includes(message.turnId));
}

afterEach(async () => {
  for (const service of running.splice(0)) await (await service).close();
});

describe('a server with users', () => {
  let server: NatsServer;
  let password = PASSWORD;
  beforeAll(async () => {
    server = await startNatsServer({
      more: () => `authorization { users = [{ user: "hindcast", password: "${password}" }] }`,
    });
  });
  afterAll(() => server.stop());

  it('takes NATS_USER and NATS_PASSWORD, or the credentials in NATS_URL', async () => {
    const first = start({ NATS_URL: server.url, NATS_USER: 'hindcast', NATS_PASSWORD: PASSWORD });
    await expectMessagesToPass(first);
    await (await first.service).close();
    const written = server.url.replace('//', `//hindcast:${encodeURIComponent(PASSWORD)}@`);
    await expectMessagesToPass(start({ NATS_URL: written }));
  });

  it('refuses others: the service says what to set, waits, and goes on once the server takes it', async () => {
    expect(await problemOf({ servers: server.url })).toBe('NATS asks for a user: set NATS_USER and NATS_PASSWORD');
    const waiting = start({ NATS_URL: server.url, NATS_USER: 'hindcast', NATS_PASSWORD: 'battery staple' });
    await until(() => waiting.said.some(({ event }) => event === 'waiting'));
    const [line] = waiting.said;
    expect(line).toMatchObject({
      for: 'nats',
      reason: expect.stringMatching(/^NATS refuses the user hindcast .* NATS_USER and NATS_PASSWORD/),
    });
    password = 'battery staple';
    await server.restart();
    await expectMessagesToPass(waiting);
    // The server's users change under a service that runs.
    password = PASSWORD;
    await server.restart();
    const nats = (await waiting.service).app.get(Nats);
    await until(() => /^NATS refuses the user hindcast/.test(nats.reason ?? ''));
    password = 'battery staple';
    await server.restart();
    await nats.whenConnected();
    await expectMessagesToPass(waiting);
    expect(JSON.stringify(waiting.said)).not.toContain('battery staple');
  });
});

describe('a server with TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hindcast-authority-'));
  const own = makeAuthority(folder, 'own');
  const other = makeAuthority(folder, 'other');
  let server: NatsServer;
  let plain: NatsServer;
  let tlsUrl: string;
  beforeAll(async () => {
    plain = await startNatsServer();
    server = await startNatsServer({
      more: () => `tls { cert_file: "${own.certFile}", key_file: "${own.keyFile}", timeout: 10 }`,
    });
    tlsUrl = `tls://localhost:${server.port}`;
  });
  afterAll(async () => {
    await server.stop();
    await plain.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is spoken to once its authority is known', async () => {
    await expectMessagesToPass(start({ NATS_URL: tlsUrl, NATS_CA_FILE: own.caFile }));
  });

  it.each<[string, () => Broker, RegExp]>([
    ['no authority', () => ({ servers: tlsUrl }), /signed by no authority that is known here .* set NATS_CA_FILE/],
    [
      'another authority',
      () => ({ servers: tlsUrl, caFile: other.caFile }),
      /not signed by the authority in NATS_CA_FILE, .*other-ca.crt/,
    ],
    [
      'a file that is not there',
      () => ({ servers: tlsUrl, caFile: join(folder, 'none.crt') }),
      /^NATS_CA_FILE cannot be read: .*none.crt/,
    ],
    [
      'a folder for a file',
      () => ({ servers: tlsUrl, caFile: folder }),
      /^NATS_CA_FILE cannot be read: .*hindcast-authority-\w+ is a folder$/,
    ],
    ...['', 'no certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'].map(
      (text, index): [string, () => Broker, RegExp] => {
        const caFile = join(folder, `garbage-${index}.crt`);
        writeFileSync(caFile, text);
        return [
          `${JSON.stringify(text)} for a certificate`,
          () => ({ servers: tlsUrl, caFile }),
          /^NATS_CA_FILE holds no certificate in PEM form: .*garbage-\d.crt$/,
        ];
      },
    ),
    [
      'TLS where there is none',
      () => ({ servers: plain.url.replace('nats:', 'tls:') }),
      /^NATS has no TLS, and tls:\/\/ in NATS_URL or NATS_CA_FILE asks for it/,
    ],
  ])('is waited for, with a reason, by a service with %s', async (_, broker, reason) => {
    expect(await problemOf(broker())).toMatch(reason);
  });
});
