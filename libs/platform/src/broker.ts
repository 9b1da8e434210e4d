import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from '@nats-io/nats-core';
import type { CommonConfig } from './config';
import { brokerProblem as problemOf } from './core/broker-problem';
import { readServers } from './core/server-list';

/** How NATS is reached: one server or several of one cluster, and what the client shows it. */
export interface Broker {
  /** `nats://` or `tls://` URLs, separated by commas. */
  readonly servers: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** PEM file of the authority that signed the server's certificate; read at every connection, so that it may be renewed. */
  readonly caFile?: string | undefined;
}

export const brokerOf = (
  config: Pick<CommonConfig, 'NATS_URL' | 'NATS_USER' | 'NATS_PASSWORD' | 'NATS_CA_FILE'>,
): Broker => ({
  servers: config.NATS_URL,
  user: config.NATS_USER,
  password: config.NATS_PASSWORD,
  caFile: config.NATS_CA_FILE,
});

/**
 * The client's options for a broker. The client itself passes over credentials in a URL and over `tls://`: here both count. A server that
 * asks for TLS gets it in any case; what `tls://` or a CA file adds is that nothing else will do.
 */
export function connectionOptions(broker: Broker): ConnectionOptions {
  const servers = readServers(broker.servers);
  const written = servers.find(({ credentials }) => credentials !== null)?.credentials;
  const { user, password } = broker.user === undefined ? (written ?? {}) : broker;
  const isTls = broker.caFile !== undefined || servers.some(({ isTls }) => isTls);
  return {
    servers: servers.map(({ url }) => url),
    ...(user !== undefined && { user, pass: password ?? '' }),
    ...(isTls && { tls: broker.caFile === undefined ? {} : { caFile: broker.caFile } }),
  };
}

/** Why a connection to a broker failed, and what to do. Without passwords. */
export const brokerProblem = (error: unknown, broker: Broker): string =>
  caFileProblem(broker.caFile) ??
  problemOf(error, { user: connectionOptions(broker).user ?? null, caFile: broker.caFile ?? null });

/** The client reports a folder without its path, and of a file without a certificate that the server's is of no known authority. */
function caFileProblem(path: string | undefined): string | null {
  if (path === undefined) return null;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return `NATS_CA_FILE cannot be read: ${code === 'EISDIR' ? `${path} is a folder` : message}`;
  }
  try {
    new X509Certificate(text);
    return null;
  } catch {
    return `NATS_CA_FILE holds no certificate in PEM form: ${path}`;
  }
}
