// What a pod names is there: ConfigMaps, Secrets, claims, accounts, priority classes, volumes; and the Services that its URLs name.
import { environmentOf, secretKeysOf } from '../environment.mjs';
import { findObject, idOf, namespaceOf, ofKind, workloadsOf } from '../objects.mjs';

export function references(objects, context) {
  return workloadsOf(objects).flatMap((workload) => {
    const { namespace, pod, object } = workload;
    const claims = object.spec?.volumeClaimTemplates?.map(({ metadata }) => metadata.name) ?? [];
    const volumes = [...(pod.volumes ?? []).map(({ name }) => name), ...claims];
    return [
      ...keysRead(workload).flatMap((reference) => missingKeys(reference, namespace, objects, context)),
      ...(pod.volumes ?? [])
        .map(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName)
        .filter((name) => name && !findObject(objects, 'PersistentVolumeClaim', name, namespace))
        .map((name) => `there is no PersistentVolumeClaim/${name}; define it or correct the name`),
      ...workload.containers.flatMap(({ name: container, volumeMounts = [] }) =>
        volumeMounts
          .filter(({ name }) => !volumes.includes(name))
          .map(({ name }) => `container ${container} mounts ${name}, which is no volume of the pod; add the volume`),
      ),
      ...(pod.serviceAccountName && !findObject(objects, 'ServiceAccount', pod.serviceAccountName, namespace)
        ? [`there is no ServiceAccount/${pod.serviceAccountName}; define it or correct the name`]
        : []),
      ...(pod.priorityClassName &&
      !pod.priorityClassName.startsWith('system-') &&
      !findObject(objects, 'PriorityClass', pod.priorityClassName)
        ? [`there is no PriorityClass/${pod.priorityClassName}; define it or correct the name`]
        : []),
      ...(object.kind === 'StatefulSet' && !findObject(objects, 'Service', object.spec?.serviceName, namespace)
        ? [`there is no Service/${object.spec?.serviceName}; define it or correct serviceName`]
        : []),
    ].map((message) => ({ object: workload.id, message }));
  });
}

/** `{ kind, name, keys, optional }` for everything that a pod reads of ConfigMaps and Secrets; `keys` is empty for all of it. */
function keysRead({ pod, containers }) {
  const sources = (pod.volumes ?? []).flatMap((volume) => [volume, ...(volume.projected?.sources ?? [])]);
  const keysOf = (items) => (items ?? []).map(({ key }) => key);
  return [
    ...sources.flatMap(({ configMap, secret }) => [
      ...(configMap
        ? [{ kind: 'ConfigMap', name: configMap.name, keys: keysOf(configMap.items), optional: configMap.optional }]
        : []),
      ...(secret
        ? [
            {
              kind: 'Secret',
              name: secret.secretName ?? secret.name,
              keys: keysOf(secret.items),
              optional: secret.optional,
            },
          ]
        : []),
    ]),
    ...containers.flatMap(({ envFrom = [], env = [] }) => [
      ...envFrom.flatMap(({ configMapRef, secretRef }) => [
        ...(configMapRef ? [{ kind: 'ConfigMap', ...configMapRef, keys: [] }] : []),
        ...(secretRef ? [{ kind: 'Secret', ...secretRef, keys: [] }] : []),
      ]),
      ...env.flatMap(({ valueFrom: { configMapKeyRef, secretKeyRef } = {} }) => [
        ...(configMapKeyRef ? [{ kind: 'ConfigMap', ...configMapKeyRef, keys: [configMapKeyRef.key] }] : []),
        ...(secretKeyRef ? [{ kind: 'Secret', ...secretKeyRef, keys: [secretKeyRef.key] }] : []),
      ]),
    ]),
  ];
}

function missingKeys({ kind, name, keys, optional }, namespace, objects, { secrets, secretsFile }) {
  const there =
    kind === 'Secret' ? secretKeysOf(name, namespace, objects, secrets) : configMapKeys(name, namespace, objects);
  const where = kind === 'Secret' ? `define it or show it in ${secretsFile}` : 'define it or correct the name';
  if (there === undefined) return optional && kind === 'ConfigMap' ? [] : [`there is no ${kind}/${name}; ${where}`];
  return keys
    .filter((key) => !there.includes(key) && !(optional && kind === 'ConfigMap'))
    .map((key) => `${kind}/${name} has no key ${key}; ${where}`);
}

function configMapKeys(name, namespace, objects) {
  const found = findObject(objects, 'ConfigMap', name, namespace);
  return found && Object.keys({ ...found.data, ...found.binaryData });
}

/** Hosts without a domain, and `….svc` ones, are Services of this cluster. */
export function urls(objects, context) {
  return [
    ...workloadsOf(objects).flatMap((workload) =>
      workload.containers.flatMap((container) => {
        const { values, origins } = environmentOf(container, workload, objects, context);
        return Object.entries(values)
          .filter(([name]) => !origins[name].startsWith('Secret/'))
          .flatMap(([name, value]) =>
            [...value.matchAll(/\b[a-z]+:\/\/(?:[^/@\s,]+@)?([\w.-]+)(?::(\d+))?/g)].map(([, host, port]) => ({
              name,
              host,
              port,
            })),
          )
          .filter(({ host, port }) => !isServed(host, port, workload.namespace, objects))
          .map(({ name, host, port }) => ({
            object: `${workload.id} container ${container.name}`,
            message: `${name} names ${host}${port ? `:${port}` : ''}, which no Service is; correct the URL`,
          }));
      }),
    ),
    ...ofKind(objects, 'ScaledObject').flatMap((scaled) =>
      (scaled.spec?.triggers ?? [])
        .flatMap(({ metadata = {} }) =>
          (metadata.natsServerMonitoringEndpoint ?? '').split(',').filter((text) => text !== ''),
        )
        .map((endpoint) => endpoint.trim().split(':'))
        .filter(([host, port]) => !isServed(host, port, namespaceOf(scaled), objects, { fromElsewhere: true }))
        .map(([host, port]) => ({
          object: idOf(scaled),
          message: `natsServerMonitoringEndpoint ${host}:${port} is no Service as KEDA's namespace sees it; write <service>.<namespace>.svc:<port>`,
        })),
    ),
  ];
}

/** `service`, `pod.service`, `service.namespace` or `pod.service.namespace`, the last two with `.svc` or not. */
function isServed(host, port, namespace, objects, { fromElsewhere = false } = {}) {
  if (host === 'localhost' || /^[\d.]+$/.test(host)) return !fromElsewhere;
  const labels = host.replace(/\.cluster\.local$/, '').split('.');
  const hasSuffix = labels.at(-1) === 'svc';
  if (hasSuffix) labels.pop();
  const isQualified = labels.length > 1 && (hasSuffix || labels.at(-1) === namespace);
  if (isQualified && labels.pop() !== namespace) return true;
  if (!isQualified && fromElsewhere) return false;
  const name = labels.at(-1);
  const service = findObject(objects, 'Service', name, namespace);
  if (service) return port === undefined || (service.spec?.ports ?? []).some((own) => String(own.port) === port);
  // A name with a domain is somebody else's.
  if (!isQualified && labels.length > 1) return true;
  return ofKind(objects, 'Cluster').some(({ metadata }) =>
    [`${metadata.name}-rw`, `${metadata.name}-ro`, `${metadata.name}-r`].includes(name),
  );
}
