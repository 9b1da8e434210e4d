import { HindcastError } from '@hindcast/contracts';
import { brokerProblem, connectionOptions, shownServers, type Broker } from '@hindcast/platform';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Terminal } from './terminal';

/**
 * Runs `work` with a connection to NATS.
 *
 * @throws HindcastError `dependency-unavailable` when no server answers, or none takes the credentials
 */
export async function withBroker<T>(
  broker: Broker,
  terminal: Terminal,
  work: (connection: NatsConnection) => Promise<T>,
): Promise<T> {
  const connection = await connect({
    ...connectionOptions(broker),
    name: 'hindcast-command',
    timeout: 2_000,
    // A command would rather fail than wait: whoever ran it sees why and runs it again.
    maxReconnectAttempts: 3,
    reconnectTimeWait: 500,
  }).catch((cause: unknown) => {
    const at = `the broker at ${shownServers(broker.servers)}`;
    const problem = brokerProblem(cause, broker);
    const isAway = cause instanceof Error && problem === cause.message;
    throw new HindcastError(
      'dependency-unavailable',
      isAway
        ? `${at} does not answer; start it (npm start, or nats-server -js), or set NATS_URL`
        : `${at} takes no connection: ${problem}`,
      { cause },
    );
  });
  try {
    return await Promise.race([work(connection), terminal.interrupted]);
  } finally {
    await connection.close();
  }
}
