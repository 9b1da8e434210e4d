// What rules read of rendered objects.

/** `Deployment/gateway` */
export const idOf = (object) => `${object.kind}/${object.metadata?.name}`;

export const namespaceOf = (object) => object.metadata?.namespace ?? 'default';

export const ofKind = (objects, ...kinds) => objects.filter((object) => kinds.includes(object?.kind));

export const findObject = (objects, kind, name, namespace) =>
  objects.find(
    (object) =>
      object.kind === kind &&
      object.metadata?.name === name &&
      (namespace === undefined || namespaceOf(object) === namespace),
  );

const TEMPLATES = {
  Deployment: (spec) => spec.template,
  StatefulSet: (spec) => spec.template,
  DaemonSet: (spec) => spec.template,
  Job: (spec) => spec.template,
  CronJob: (spec) => spec.jobTemplate?.spec?.template,
};

/**
 * Everything that makes pods: `{ object, id, app, namespace, labels, pod, containers }`. `app` is the label `app.kubernetes.io/name`,
 * `labels` are the pods', `containers` has the init containers too, each `{ …container, isInit }`.
 */
export function workloadsOf(objects) {
  return objects.flatMap((object) => {
    const template = object?.kind === 'Pod' ? object : TEMPLATES[object?.kind]?.(object.spec ?? {});
    if (!template) return [];
    const labels = template.metadata?.labels ?? {};
    const pod = template.spec ?? {};
    const mark = (isInit) => (container) => ({ ...container, isInit });
    return [
      {
        object,
        id: idOf(object),
        app: labels['app.kubernetes.io/name'],
        namespace: namespaceOf(object),
        labels,
        pod,
        containers: [...(pod.initContainers ?? []).map(mark(true)), ...(pod.containers ?? []).map(mark(false))],
      },
    ];
  });
}

/** Runs to its end, so nothing asks whether it is alive or ready. */
export const isJob = ({ object }) => object.kind === 'Job' || object.kind === 'CronJob';

export const requestsGpu = ({ containers }) =>
  containers.some(({ resources }) => 'nvidia.com/gpu' in { ...resources?.requests, ...resources?.limits });

/** A Kubernetes label selector; one without any requirement matches everything. */
export function matches(selector, labels) {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator === 'Exists') return key in labels;
      if (operator === 'DoesNotExist') return !(key in labels);
      if (operator === 'In') return values.includes(labels[key]);
      return !values.includes(labels[key]);
    })
  );
}

export const isEmptySelector = (selector) =>
  Object.keys(selector?.matchLabels ?? {}).length === 0 && (selector?.matchExpressions ?? []).length === 0;

/** The app of this repository that an image holds: `registry/hindcast/trainer-onnx:1` → `trainer`; else `undefined`. */
export const appOfImage = (image = '') => /(?:^|\/)hindcast\/([a-z-]+?)(?:-onnx|-cpu)?(?:[:@]|$)/.exec(image)?.[1];

/** Every text in a value, with the path to it: `[['spec', 'name'], 'x']`. */
export function textsOf(value, path = []) {
  if (typeof value === 'string') return [[path, value]];
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, inner]) => textsOf(inner, [...path, key]));
}
