// What keeps answers coming: while pods are replaced, and while versions of the policy are loaded.
import { environmentOf, expanded } from '../environment.mjs';
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

/** vLLM takes what the trainer publishes and what the teacher asks for; it would refuse it at run time only. */
export function engineFlags(objects, context) {
  const workloads = workloadsOf(objects);
  const configOf = (name) => {
    const workload = workloads.find(({ app }) => app === name);
    return workload && context.services.get(name).parse(variablesOf(workload, objects, context)).config;
  };
  const [trainer, teacher, gateway] = ['trainer', 'teacher-svc', 'gateway'].map(configOf);
  return workloads
    .filter(({ app }) => app === 'vllm-policy')
    .flatMap((workload) => {
      const { flags, values } = flagsOf(workload, objects, context);
      const atLeast = (flag, least, why) =>
        least > 0 && !(Number(flags[flag]) >= least) ? [`set --${flag}=${least} or more, as ${why}`] : [];
      const publishesAdapters = trainer?.TUNING === 'lora';
      const problems = [
        ...(publishesAdapters && !('enable-lora' in flags)
          ? ['set --enable-lora, as the trainer publishes adapters']
          : []),
        ...(publishesAdapters && !/^(true|1)$/i.test(values.VLLM_ALLOW_RUNTIME_LORA_UPDATING ?? '')
          ? ['set VLLM_ALLOW_RUNTIME_LORA_UPDATING: "True", as adapters are loaded while it serves']
          : []),
        ...(publishesAdapters ? atLeast('max-lora-rank', trainer.LORA_RANK, `LORA_RANK is ${trainer.LORA_RANK}`) : []),
        ...(teacher ? atLeast('max-logprobs', teacher.TEACHER_TOP_K, `TEACHER_TOP_K is ${teacher.TEACHER_TOP_K}`) : []),
        ...(gateway && flags['served-model-name'] !== gateway.POLICY_MODEL
          ? [`set --served-model-name=${gateway.POLICY_MODEL}, as POLICY_MODEL of the gateway is`]
          : []),
      ];
      return problems.map((message) => ({ object: workload.id, message }));
    });
}

/** `--name=value`, `--name value` and `--name` of the first container, its variables put in. */
function flagsOf(workload, objects, context) {
  const container = workload.containers.find(({ isInit }) => !isInit) ?? {};
  const { values } = environmentOf(container, workload, objects, context);
  const words = [...(container.command ?? []), ...(container.args ?? [])].map((word) => expanded(word, values));
  const flags = {};
  words.forEach((word, index) => {
    const [, name, value] = /^--([\w-]+)(?:=(.*))?$/.exec(word) ?? [];
    const next = words[index + 1];
    if (name) flags[name] = value ?? (next?.startsWith('--') ? '' : (next ?? ''));
  });
  return { flags, values };
}

function variablesOf(workload, objects, context) {
  const container = workload.containers.find(({ isInit }) => !isInit) ?? {};
  return environmentOf(container, workload, objects, context).values;
}
