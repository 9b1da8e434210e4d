import { rolloutVerdict } from '../core/scaling.mjs';
import { until } from '../kubectl.mjs';

const SETTLED_MS = 120_000;
const ROLLED_MS = 240_000;
/** With one replica there would be nothing to keep. */
const LEAST_REPLICAS = 2;

/** A new revision of gateway and judges replaces the old one, and there are never fewer available than before. */
export async function proveRollout({ kubectl, namespace, say }) {
  const told = [];
  const wrong = [];
  for (const name of ['gateway', 'judge-svc']) {
    const { ok, detail } = await roll({ kubectl, namespace, name, say });
    (ok ? told : wrong).push(`${name} ${detail}`);
  }
  return { ok: wrong.length === 0, detail: (wrong.length > 0 ? wrong : told).join('; ') };
}

async function roll({ kubectl, namespace, name, say }) {
  say(`waiting for ${name} to settle…`);
  const settled = await until(async () => {
    const deployment = await kubectl.get('deployment', name, namespace);
    const { spec, status } = deployment;
    return spec.replicas >= LEAST_REPLICAS &&
      status.availableReplicas === spec.replicas &&
      status.replicas === spec.replicas
      ? deployment
      : null;
  }, SETTLED_MS);
  if (!settled) return { ok: false, detail: `never had ${LEAST_REPLICAS} available replicas` };
  const { replicas } = settled.spec;

  const samples = [];
  const stop = kubectl.follow('deployment', name, namespace, (sample) => samples.push(sample));
  try {
    await until(async () => (samples.length > 0 ? true : null), SETTLED_MS, 100);
    say(`rolling ${name}…`);
    const endpoints = [];
    await kubectl.run(['patch', 'deployment', name, '-n', namespace, '-p', JSON.stringify(newRevision())]);
    const { generation } = await kubectl.get('deployment', name, namespace).then(({ metadata }) => metadata);
    await until(async () => {
      endpoints.push(await readyEndpoints(kubectl, name, namespace));
      return samples.at(-1).generation >= generation && rolloutVerdict(samples).isDone ? true : null;
    }, ROLLED_MS);
    const { lowest, isDone, holds } = rolloutVerdict(samples);
    const lowestEndpoints = Math.min(...endpoints);
    const seen = `${replicas} replicas, never fewer than ${lowest} available (${samples.length} changes of status) and ${lowestEndpoints} ready behind the Service`;
    if (!isDone) return { ok: false, detail: `is not done after ${ROLLED_MS / 1000} s: ${seen}` };
    return { ok: holds && lowestEndpoints >= replicas, detail: seen };
  } finally {
    stop();
  }
}

/** What changes with a new image, as far as a Deployment can tell. */
const newRevision = () => ({
  spec: { template: { metadata: { annotations: { 'verify-k8s/revision': String(Date.now()) } } } },
});

/** Pods that a Service would send requests to now. */
async function readyEndpoints(kubectl, name, namespace) {
  const slices = await kubectl.list('endpointslices', namespace, '-l', `kubernetes.io/service-name=${name}`);
  return slices.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) => conditions.ready).length;
}
