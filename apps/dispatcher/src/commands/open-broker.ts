import { HindcastError } from '@hindcast/contracts';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Terminal } from './terminal';

/**
 * Runs `work` with a connection to NATS.
 *
 * @throws HindcastError `dependency-unavailable` when no server answers
 */
export async function withBroker<T>(
  servers: string,
  terminal: Terminal,
  work: (connection: NatsConnection) => Promise<T>,
): Promise<T> {
  const connection = await connect({
    servers: servers.split(',').map((server) => server.trim()),
    name: 'hindcast-command',
    timeout: 2_000,
    // A command would rather fail than wait: whoever ran it sees why and runs it again.
    maxReconnectAttempts: 3,
    reconnectTimeWait: 500,
  }).catch((cause: unknown) => {
    const shown = servers.replace(/\/\/[^/@\s]+@/g, '//***@');
    throw new HindcastError(
      'dependency-unavailable',
      `the broker at ${shown} does not answer; start it (npm start, or nats-server -js), or set NATS_URL`,
      { cause },
    );
  });
  try {
    return await Promise.race([work(connection), terminal.interrupted]);
  } finally {
    await connection.close();
  }
}
