// Every variable is one that the container's service reads, those that it needs are there, and its own schema takes the values.
import { environmentOf } from '../environment.mjs';
import { idOf, isJob, ofKind, workloadsOf } from '../objects.mjs';

/** What the runtime reads, not a service's config.ts. */
const OF_THE_RUNTIME = ['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'UV_THREADPOOL_SIZE', 'HOME', 'TMPDIR', 'TZ'];
const OF_CUDA = ['CUDA_CACHE_PATH', 'CUDA_CACHE_MAXSIZE', 'CUDA_VISIBLE_DEVICES', 'LD_LIBRARY_PATH', 'OMP_NUM_THREADS'];
const OF_TENSORFLOW = /^(TF|NVIDIA|XLA)_[A-Z0-9_]+$/;

/** In a pod the defaults for one machine do not do; each entry is one variable, or several of which one is enough. */
const NEEDED = {
  gateway: [['NATS_URL'], ['API_KEYS', 'API_KEYS_FILE'], ['SESSION_SECRET'], ['POLICY_BASE_URL'], ['POLICY_MODEL']],
  'judge-svc': [['NATS_URL'], ['JUDGE_BASE_URL'], ['JUDGE_MODEL']],
  'teacher-svc': [['NATS_URL'], ['TEACHER_BASE_URL', 'POLICY_BASE_URL'], ['TEACHER_MODEL', 'POLICY_MODEL']],
  dispatcher: [['NATS_URL'], ['DATABASE_URL']],
  trainer: [['NATS_URL'], ['POLICY_BASE_URL'], ['MODEL_DIR'], ['POLICY_DIR']],
  // Its image brings the seed model.
  engine: [],
  'demo-judge': [],
};
const IS_SECRET = /(_API_KEY|_PASSWORD|_SECRET|^DATABASE_URL|^(ADMIN_)?API_KEYS)$/;

/** Each container of this repository's images, with its environment. */
function servicesIn(objects, context) {
  return workloadsOf(objects).flatMap((workload) =>
    workload.containers.flatMap((container) => {
      const service = context.appIn(container);
      if (!service) return [];
      const id = `${workload.id} container ${container.name}`;
      return [
        {
          id,
          workload,
          container,
          service,
          isService: context.serviceOf(container) !== undefined,
          ...environmentOf(container, workload, objects, context),
        },
      ];
    }),
  );
}

export function unreadVariables(objects, context) {
  return servicesIn(objects, context).flatMap(({ id, service, values, origins }) =>
    Object.keys(values)
      .filter((name) => !isRead(name, service))
      .map((name) => ({
        object: id,
        message: `${service.app} reads no variable ${name} (${origins[name]}); correct the name or delete it`,
      })),
  );
}

const isRead = (name, { app, variables }) =>
  variables.has(name) ||
  OF_THE_RUNTIME.includes(name) ||
  (app === 'trainer' && (OF_CUDA.includes(name) || OF_TENSORFLOW.test(name)));

export function neededVariables(objects, context) {
  return servicesIn(objects, context).flatMap(({ id, workload, service, values, isService }) => {
    const has = (name) => values[name] !== undefined && values[name] !== '';
    const needed = isService
      ? [['HOST'], ['DATA_DIR'], ...NEEDED[service.app]]
      : isMigration(workload, service)
        ? [['DATABASE_URL']]
        : [];
    return needed
      .filter((names) => !names.some(has))
      .map((names) => ({ object: id, message: `lacks ${names.join(' or ')}; set it` }));
  });
}

const isMigration = (workload, { app }) => isJob(workload) && app === 'dispatcher';

export function values(objects, context) {
  return servicesIn(objects, context).flatMap(({ id, container, service, values, isService }) => {
    if (!isService) return [];
    const { config, mistakes } = service.parse(values);
    if (!config) return mistakes.map((mistake) => ({ object: id, message: `${mistake}; correct the value` }));
    return [
      ...(/^(127\.|localhost$|::1$)/.test(config.HOST)
        ? [{ object: id, message: `HOST is ${config.HOST}, where no other pod reaches it; set HOST: 0.0.0.0` }]
        : []),
      ...((container.ports ?? []).some(({ containerPort }) => containerPort === config.PORT)
        ? []
        : [{ object: id, message: `listens on port ${config.PORT}, which is not in its ports; add it` }]),
    ];
  });
}

export function plainSecrets(objects, context) {
  return servicesIn(objects, context).flatMap(({ id, values, origins }) =>
    Object.entries(values)
      .filter(
        ([name, value]) =>
          value !== '' &&
          !origins[name].startsWith('Secret/') &&
          (IS_SECRET.test(name) || /:\/\/[^/@\s]+:[^/@\s]+@/.test(value)),
      )
      .map(([name]) => ({
        object: id,
        message: `${name} is a secret in plain sight (${origins[name]}); take it from a Secret`,
      })),
  );
}

export function duplicateVariables(objects) {
  return workloadsOf(objects).flatMap(({ id, containers }) =>
    containers.flatMap(({ name: container, env = [] }) =>
      env
        .filter(({ name }, index) => env.findIndex((other) => other.name === name) < index)
        .map(({ name }) => ({ object: `${id} container ${container}`, message: `sets ${name} twice; delete one` })),
    ),
  );
}

/** What workloads agree on stands once, in the ConfigMap of the settings, and is copied from there by a component. */
export function settings(objects, { settings: { name, copies } }) {
  const maps = ofKind(objects, 'ConfigMap');
  const source = maps.find(({ metadata }) => metadata.name === name);
  if (!source) return [];
  return Object.entries(source.data ?? {}).flatMap(([key, value]) => {
    const own = copies.filter((copy) => copy.key === key);
    const unread = `no component reads ${key}, so it changes nothing; set it in the ConfigMap of the service that reads it`;
    return [
      ...(own.length === 0 ? [{ object: idOf(source), message: unread }] : []),
      ...own.flatMap(({ map, as }) =>
        maps
          .filter(({ metadata }) => withoutHash(metadata.name) === map)
          .filter(({ data }) => data?.[as] !== value)
          .map((found) => ({
            object: idOf(found),
            message: `${as} is "${found.data?.[as]}", and ${key} of ConfigMap/${name} is "${value}"; let the component settings come last`,
          })),
      ),
    ];
  });
}

/** kustomize puts a hash of ten characters behind the name of what it generates. */
const withoutHash = (name) => name.replace(/-[bcdfghkmt2456789]{10}$/, '');
