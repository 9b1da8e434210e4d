import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { streams } from '@hindcast/contracts';
import { brokerOf, brokerProblem, connectionOptions, shownServers } from '@hindcast/platform';
import { brokerAway, brokerFindings, type BrokerFacts } from './core/broker-findings';
import type { Finding } from './core/finding';
import type { Settings } from './settings';
import type { Env } from '../written-settings';

export interface BrokerLook {
  readonly findings: readonly Finding[];
  /** The broker's clock against this one's, ms. */
  readonly clockMs: number | null;
}

/** Connects as the services do. */
export async function checkBroker({ gateway }: Settings, env: Env): Promise<BrokerLook> {
  const broker = brokerOf(gateway);
  const shown = shownServers(broker.servers);
  let connection: NatsConnection;
  try {
    connection = await connect({
      ...connectionOptions(broker),
      name: 'hindcast-doctor',
      timeout: 3_000,
      reconnect: false,
    });
  } catch (cause) {
    const problem = brokerProblem(cause, broker);
    const isAway = cause instanceof Error && problem === cause.message;
    const findings = [brokerAway(shown, { problem, isAway, hasServer: hasNatsServer(env) })];
    return { findings, clockMs: null };
  }
  try {
    const { facts, clockMs } = await factsOf(connection, gateway.NATS_REPLICAS);
    return { findings: brokerFindings(shown, facts), clockMs };
  } finally {
    await connection.close();
  }
}

async function factsOf(
  connection: NatsConnection,
  wantedReplicas: number,
): Promise<{ facts: BrokerFacts; clockMs: number | null }> {
  const { version = 'unknown', max_payload: maxPayload = 0, cluster } = connection.info ?? {};
  const replicas: number[] = [];
  let clockMs: number | null = null;
  let jetStream: BrokerFacts['jetStream'] = 'on';
  try {
    const manager = await jetstreamManager(connection, { timeout: 3_000 });
    await manager.getAccountInfo();
    for (const name of Object.keys(streams)) {
      const before = Date.now();
      const info = await manager.streams.info(name).catch(() => null);
      if (info === null) continue;
      replicas.push(info.config.num_replicas);
      const told = Date.parse((info as { ts?: string }).ts ?? '');
      if (!Number.isNaN(told)) clockMs = told - (before + Date.now()) / 2;
    }
  } catch (error) {
    jetStream = error instanceof Error ? error.message : String(error);
  }
  return {
    facts: { version, maxPayload, isCluster: cluster !== undefined, jetStream, replicas, wantedReplicas },
    clockMs,
  };
}

/** Where `npm start` looks for one. */
function hasNatsServer(env: Env): boolean {
  const folders = [
    ...(env['PATH'] ?? '').split(delimiter),
    '/usr/sbin',
    '/usr/local/bin',
    '/opt/homebrew/bin',
    join(env['HOME'] ?? '/', 'go/bin'),
  ];
  return [env['NATS_SERVER_BIN'], ...folders.map((folder) => join(folder, 'nats-server'))].some(
    (path) => path !== undefined && existsSync(path),
  );
}
