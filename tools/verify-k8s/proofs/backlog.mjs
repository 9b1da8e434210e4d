import { judgeLag, publishPairedTurns, startJudge } from '../broker.mjs';
import { path, replicasAt } from '../core/scaling.mjs';
import { until } from '../kubectl.mjs';

const TURNS = 500;
const READY_MS = 120_000;
const GROWN_MS = 240_000;
/** The windows are the overlay's own: it goes down by halves. */
const SHRUNK_MS = 900_000;
const DRAINED_MS = 180_000;
const JUDGES = 'judge-svc';

/** Judges follow the backlog: up while 500 paired turns wait in the broker, down once a real judge service has handled them. */
export async function proveBacklog({ kubectl, namespace, broker, processes, folder, say }) {
  const wrong = (detail) => ({ ok: false, detail });
  const scaled = await kubectl.get('scaledobject', JUDGES, namespace);
  const few = replicasAt(0, scaled.spec);
  const many = replicasAt(TURNS, scaled.spec);
  if (many <= few) return wrong(`${TURNS} turns ask for ${many} judges, and so do none`);

  // The consumer is made by the service that reads it; a judge that ran once has left it behind.
  await (
    await startJudge({ folder, processes, broker })
  )();
  const seen = [];
  const reaches = (replicas, limitMs) =>
    until(async () => {
      const { spec, status } = await kubectl.get('deployment', JUDGES, namespace);
      seen.push(spec.replicas);
      const available = status.availableReplicas ?? 0;
      return spec.replicas === replicas && available === replicas && (status.replicas ?? 0) === replicas ? true : null;
    }, limitMs);

  say(`waiting for ${few} judges while nothing waits…`);
  const isReady = await until(async () => {
    const { status } = await kubectl.get('scaledobject', JUDGES, namespace);
    return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ? true : null;
  }, READY_MS);
  if (!isReady) return wrong('KEDA does not take its ScaledObject for ready');
  if (!(await reaches(few, SHRUNK_MS))) return wrong(`without a backlog there are ${path(seen)} judges, not ${few}`);

  say(`publishing ${TURNS} paired turns…`);
  await publishPairedTurns(broker, TURNS);
  const lag = await judgeLag(broker);
  if (lag !== TURNS) return wrong(`${lag} of ${TURNS} turns wait in the broker`);
  seen.length = 0;
  const from = Date.now();
  if (!(await reaches(many, GROWN_MS)))
    return wrong(`with ${TURNS} turns waiting there were ${path(seen)} judges, not ${many}`);
  const up = { path: path(seen), seconds: Math.round((Date.now() - from) / 1000) };
  const metric = await externalMetric(kubectl, namespace, scaled);
  if (metric !== TURNS) return wrong(`the metric says ${metric} while ${TURNS} turns wait`);

  say('draining…');
  const end = await startJudge({ folder, processes, broker });
  const isDrained = await until(async () => ((await judgeLag(broker)) === 0 ? true : null), DRAINED_MS);
  await end();
  if (!isDrained) return wrong(`${await judgeLag(broker)} turns still wait`);
  seen.length = 0;
  const drained = Date.now();
  if (!(await reaches(few, SHRUNK_MS))) return wrong(`drained, there were ${path(seen)} judges, not ${few}`);
  return {
    ok: true,
    detail: `${TURNS} paired turns: ${up.path} judges within ${up.seconds} s; drained by one real judge-svc: ${path(seen)} within ${Math.round((Date.now() - drained) / 1000)} s`,
  };
}

/** The backlog as the autoscaler is told it, through the aggregated API. */
async function externalMetric(kubectl, namespace, scaled) {
  const [name] = scaled.status.externalMetricNames;
  const selector = encodeURIComponent(`scaledobject.keda.sh/name=${scaled.metadata.name}`);
  const told = await kubectl.run([
    'get',
    '--raw',
    `/apis/external.metrics.k8s.io/v1beta1/namespaces/${namespace}/${name}?labelSelector=${selector}`,
  ]);
  return Number(JSON.parse(told).items[0].value);
}

/** The one thing of the ScaledObjects that cannot be as it is in a cluster: where KEDA asks the broker. */
export function patchesFor(objects, monitoring) {
  return objects
    .filter(({ kind }) => kind === 'ScaledObject')
    .map(({ apiVersion, kind, metadata: { name }, spec: { triggers } }) => ({
      apiVersion,
      kind,
      metadata: { name },
      spec: { triggers: triggers.map((trigger) => at(trigger, monitoring)) },
    }));
}

const at = (trigger, natsServerMonitoringEndpoint) =>
  trigger.type === 'nats-jetstream'
    ? { ...trigger, metadata: { ...trigger.metadata, natsServerMonitoringEndpoint } }
    : trigger;
