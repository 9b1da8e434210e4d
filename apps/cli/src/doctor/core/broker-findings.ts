import { fault, ok, warning, type Finding } from './finding';

/** Largest message that the services send. */
const MAX_PAYLOAD = 8 * 1024 * 1024;

export interface BrokerFacts {
  readonly version: string;
  /** Bytes. */
  readonly maxPayload: number;
  readonly isCluster: boolean;
  /** `on`, or what the server says instead. */
  readonly jetStream: string;
  /** Of each stream of ours that is there. */
  readonly replicas: readonly number[];
  readonly wantedReplicas: number;
}

/** A broker that takes no connection. @param at its address, without credentials */
export function brokerAway(
  at: string,
  { problem, isAway, hasServer }: { readonly problem: string; readonly isAway: boolean; readonly hasServer: boolean },
): Finding {
  if (!isAway) return fault('broker', `${at} takes no connection`, `${problem}.`);
  const start = hasServer
    ? 'Start it (npx hindcast up starts one of its own; else nats-server -c with jetstream and max_payload: 8388608), or correct NATS_URL.'
    : 'There is no nats-server on this machine: sudo apt-get install nats-server, or brew install nats-server; or set NATS_URL to one elsewhere.';
  return fault('broker', `${at} does not answer (${problem})`, start);
}

/** What a broker that answers is like. */
export function brokerFindings(at: string, facts: BrokerFacts): Finding[] {
  const { version, maxPayload, isCluster, jetStream, replicas, wantedReplicas } = facts;
  const findings = [versionFinding(at, version, wantedReplicas)];
  if (jetStream !== 'on')
    return [
      ...findings,
      fault(
        'broker: JetStream',
        `off (${jetStream})`,
        'Start nats-server with -js, or with a line like jetstream { store_dir: "/var/lib/nats" } in its configuration file.',
      ),
    ];
  const size = `${(maxPayload / 1024 / 1024).toFixed(1)} MiB`;
  findings.push(
    maxPayload >= MAX_PAYLOAD
      ? ok('broker: max_payload', size)
      : warning(
          'broker: max_payload',
          `${size}: a longer turn is not trained (untrainable: too-large)`,
          'Set max_payload: 8388608 in the configuration file of nats-server, and reload it.',
        ),
  );
  return [...findings, durability(replicas, wantedReplicas, isCluster)];
}

function versionFinding(at: string, version: string, wantedReplicas: number): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isAtLeast = (low: number): boolean => major > 2 || (major === 2 && minor >= low);
  const found = `${at} answers, nats-server ${version}`;
  if (!isAtLeast(9)) return fault('broker', found, 'Install nats-server 2.9 or newer.');
  if (wantedReplicas > 1 && !isAtLeast(10))
    return warning('broker', found, 'With NATS_REPLICAS above 1 use nats-server 2.10 or newer.');
  return ok('broker', found);
}

function durability(replicas: readonly number[], wanted: number, isCluster: boolean): Finding {
  const check = 'broker: durability';
  if (wanted > 1 && !isCluster)
    return fault(
      check,
      `NATS_REPLICAS is ${wanted}, and the server is in no cluster`,
      `Set NATS_REPLICAS=1, or join at least ${wanted} servers into one cluster (cluster { … } in their configuration files).`,
    );
  if (replicas.length === 0) return ok(check, 'no streams yet: the first service makes them');
  const least = Math.min(...replicas);
  if (least < wanted)
    return warning(
      check,
      `streams of ${least} replicas, NATS_REPLICAS is ${wanted}`,
      `Raise them: nats stream update RL --replicas ${wanted}, and the same for the others.`,
    );
  return ok(
    check,
    least >= 3 ? `${least} replicas: survives a loss of power` : 'one replica: survives the death of the process',
  );
}
