// A real nats-server with Hindcast's own streams and consumers, its own messages, and a real judge service that handles them.
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import contractsLibrary from '@hindcast/contracts';
import platform from '@hindcast/platform';
import { jetstreamManager } from '@nats-io/jetstream';
import { freePorts } from './processes.mjs';
import { root } from '../setup.mjs';

const { contracts, durableName } = contractsLibrary;
const { Bus, Nats, streamOf } = platform;
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** @param account name of the broker's account that KEDA asks for */
export async function startBroker({ folder, processes, account, say }) {
  say('starting nats-server…');
  mkdirSync(folder, { recursive: true });
  const [port, monitoringPort] = await freePorts(2);
  const isDefault = account === '$G';
  const user = { user: 'verify', password: randomUUID() };
  const accounts = isDefault
    ? ''
    : `accounts { ${JSON.stringify(account)}: { jetstream: enabled, users: [${JSON.stringify(user)}] } }\n`;
  const config = join(folder, 'nats.conf');
  writeFileSync(
    config,
    `listen: 127.0.0.1:${port}\nhttp: 127.0.0.1:${monitoringPort}\nmax_payload: 8388608\njetstream { store_dir: ${JSON.stringify(join(folder, 'nats'))} }\n${accounts}`,
    { mode: 0o600 },
  );
  const server = processes.start('nats-server', process.env.NATS_SERVER_BIN ?? 'nats-server', ['-c', config]);
  const monitoring = `127.0.0.1:${monitoringPort}`;
  await processes.untilReady(server, async () => (await fetch(`http://${monitoring}/healthz`)).ok);

  const url = `nats://127.0.0.1:${port}`;
  const credentials = isDefault ? {} : user;
  const nats = new Nats({ servers: url, ...credentials, app: 'gateway', replicas: 1 }, silent);
  nats.start();
  const connection = await nats.whenConnected();
  const environment = {
    NATS_URL: url,
    ...(isDefault ? {} : { NATS_USER: user.user, NATS_PASSWORD: user.password }),
    LOG_LEVEL: 'warn',
  };
  return { monitoring, nats, bus: new Bus('gateway', nats, silent), environment, connection };
}

/** Messages of `turn.paired` that the judges have not settled: pending, and handed out. `null` before their consumer is there. */
export async function judgeLag({ connection }) {
  const { subject } = contracts.turnPaired;
  const manager = await jetstreamManager(connection);
  try {
    const info = await manager.consumers.info(streamOf(subject), durableName('judge-svc', subject));
    return info.num_pending + info.num_ack_pending;
  } catch {
    return null;
  }
}

/** Publishes `count` paired turns as a gateway does. */
export async function publishPairedTurns({ bus }, count) {
  const publish = (index) =>
    bus.publish('turnPaired', {
      turnId: randomUUID(),
      tenant: 'default',
      body: {
        responseId: `response-${index}`,
        sessionId: null,
        policyVersion: 0,
        conversation: [{ role: 'user', text: `Question ${index}: how do I rename a branch?`, toolName: null }],
        answer: 'Use `git branch -m old new`.',
        nextState: [{ role: 'user', text: 'Thank you, that worked.', toolName: null }],
        truncated: false,
        outcomePending: false,
        groundTruth: null,
      },
    });
  await Promise.all(Array.from({ length: count }, (_, index) => publish(index)));
}

/** Starts a real judge service, and the demo judge that it asks. @returns a function that ends both */
export async function startJudge({ folder, processes, broker }) {
  const [judgePort, servicePort] = await freePorts(2);
  const app = (name, port, env) =>
    processes.start(name, process.execPath, [join(root, 'apps', name, 'dist/main.js')], {
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: join(folder, name),
      ...broker.environment,
      ...env,
    });
  const demoJudge = app('demo-judge', judgePort, {});
  await processes.untilReady(demoJudge, async () => (await fetch(`http://127.0.0.1:${judgePort}/healthz`)).ok);
  const service = app('judge-svc', servicePort, {
    JUDGE_BASE_URL: `http://127.0.0.1:${judgePort}/v1`,
    JUDGE_MODEL: 'demo-judge',
    // What needs no hint needs no teacher: the judged turns end at the dispatcher's consumer.
    HINT_VOTES: '0',
  });
  await processes.untilReady(service, async () => (await judgeLag(broker)) !== null);
  return async () => {
    await processes.stop(service);
    await processes.stop(demoJudge);
  };
}
