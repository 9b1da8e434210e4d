// What keeps answers coming: while pods are replaced, and while versions of the policy are loaded.
import { environmentOf } from '../environment.mjs';
import { workloadsOf } from '../objects.mjs';

const ROLLING = ['gateway', 'judge-svc', 'teacher-svc', 'dispatcher'];
const ENGINES = ['vllm-policy', 'engine'];
const ASK_ENGINES = ['gateway', 'teacher-svc', 'trainer'];

/** The next pod is ready before the last one goes, and a gateway serves until nobody is sent to it any more. */
export function rolling(objects, context) {
  return workloadsOf(objects)
    .filter(({ app, object }) => ROLLING.includes(app) && object.kind === 'Deployment')
    .flatMap((workload) => {
      const { object, id, app } = workload;
      const { type = 'RollingUpdate', rollingUpdate = {} } = object.spec?.strategy ?? {};
      const problems = [];
      if (type !== 'RollingUpdate' || ![0, '0%'].includes(rollingUpdate.maxUnavailable))
        problems.push('set strategy.rollingUpdate.maxUnavailable: 0, so that an update takes none away');
      if (app === 'gateway' && !(Number(variablesOf(workload, objects, context).SHUTDOWN_DELAY_SECONDS) > 0))
        problems.push('set SHUTDOWN_DELAY_SECONDS, for requests still come while the endpoints are withdrawn');
      return problems.map((message) => ({ object: id, message }));
    });
}

/** A version is loaded into every server by itself, so every server needs a name. */
export function engineUrls(objects, context) {
  const workloads = workloadsOf(objects);
  const engine = workloads.find(({ app }) => ENGINES.includes(app));
  const count = engine?.object.spec?.replicas ?? 1;
  if (!engine || count < 2) return [];
  const { metadata, spec } = engine.object;
  const wanted = Array.from({ length: count }, (_, index) => `${metadata.name}-${index}.${spec.serviceName}`);
  return workloads
    .filter(({ app }) => ASK_ENGINES.includes(app))
    .flatMap((workload) => {
      const urls = variablesOf(workload, objects, context).POLICY_BASE_URL ?? '';
      const named = urls.split(',').map((url) => /:\/\/([^:/.]+\.[^:/.]+)/.exec(url)?.[1]);
      if (named.length === count && wanted.every((host) => named.includes(host))) return [];
      const message = `POLICY_BASE_URL is ${urls || 'not set'}, and ${engine.id} has ${count} servers; name each of ${wanted.join(', ')}`;
      return [{ object: workload.id, message }];
    });
}

function variablesOf(workload, objects, context) {
  const container = workload.containers.find(({ isInit }) => !isInit) ?? {};
  return environmentOf(container, workload, objects, context).values;
}
