// What selects or names another object finds it.
import { findObject, idOf, isEmptySelector, matches, namespaceOf, ofKind, workloadsOf } from '../objects.mjs';

export function selectors(objects) {
  const workloads = workloadsOf(objects);
  const selects = (selector, namespace) =>
    workloads.some((workload) => workload.namespace === namespace && matches(selector, workload.labels)) ||
    selectsCluster(objects, selector, namespace);
  return [
    ...ofKind(objects, 'Service')
      .filter(({ spec }) => spec?.selector)
      .filter((service) => !selects({ matchLabels: service.spec.selector }, namespaceOf(service)))
      .map((service) => [service, 'spec.selector']),
    ...ofKind(objects, 'PodDisruptionBudget', 'PodMonitor')
      .filter((object) => !selects(object.spec?.selector, namespaceOf(object)))
      .map((object) => [object, 'spec.selector']),
    ...ofKind(objects, 'NetworkPolicy')
      .filter(
        (policy) =>
          !isEmptySelector(policy.spec?.podSelector) && !selects(policy.spec.podSelector, namespaceOf(policy)),
      )
      .map((policy) => [policy, 'spec.podSelector']),
    ...workloads
      .filter(
        ({ object, labels }) =>
          object.spec?.selector && object.kind !== 'Job' && !matches(object.spec.selector, labels),
      )
      .map(({ object }) => [object, 'spec.selector']),
    ...workloads.flatMap(({ object, pod, labels }) =>
      spreadsOf(pod)
        .filter((selector) => !matches(selector, labels))
        .map(() => [object, 'a topology spread']),
    ),
  ].map(([object, path]) => ({
    object: idOf(object),
    message: `${path} selects no pod; correct its labels or delete the object`,
  }));
}

const spreadsOf = ({ topologySpreadConstraints = [] }) =>
  topologySpreadConstraints.map(({ labelSelector }) => labelSelector);

function selectsCluster(objects, selector, namespace) {
  return ofKind(objects, 'Cluster').some(
    (cluster) =>
      namespaceOf(cluster) === namespace &&
      matches(selector, {
        'cnpg.io/cluster': cluster.metadata.name,
        'cnpg.io/podRole': 'instance',
        ...cluster.spec?.inheritedMetadata?.labels,
      }),
  );
}

export function monitors(objects) {
  return ofKind(objects, 'ServiceMonitor').flatMap((monitor) => {
    const services = ofKind(objects, 'Service').filter((service) =>
      matches(monitor.spec?.selector, service.metadata?.labels ?? {}),
    );
    if (services.length === 0)
      return [{ object: idOf(monitor), message: 'spec.selector selects no Service; correct its labels' }];
    // A Service without the port is passed over.
    return (monitor.spec.endpoints ?? [])
      .map(({ port }) => port)
      .filter(
        (port) => port !== undefined && !services.some(({ spec }) => spec?.ports?.some(({ name }) => name === port)),
      )
      .map((port) => ({
        object: idOf(monitor),
        message: `none of ${services.map(({ metadata }) => metadata.name).join(', ')} has a port named ${port}; correct it`,
      }));
  });
}

export function scaleTargets(objects) {
  return ofKind(objects, 'HorizontalPodAutoscaler', 'ScaledObject').flatMap((scaler) => {
    const { kind = 'Deployment', name } = scaler.spec?.scaleTargetRef ?? {};
    const problems = findObject(objects, kind, name, namespaceOf(scaler))
      ? []
      : [`scales ${kind}/${name}, which is not there; correct scaleTargetRef`];
    for (const { authenticationRef } of scaler.spec?.triggers ?? [])
      if (
        authenticationRef &&
        !findObject(objects, authenticationRef.kind ?? 'TriggerAuthentication', authenticationRef.name)
      )
        problems.push(
          `there is no ${authenticationRef.kind ?? 'TriggerAuthentication'}/${authenticationRef.name}; correct authenticationRef`,
        );
    const { minReplicas, minReplicaCount, maxReplicas, maxReplicaCount } = scaler.spec ?? {};
    const highest = maxReplicas ?? maxReplicaCount;
    if (highest === undefined) problems.push('has no cap; set maxReplicaCount');
    else if (highest < (minReplicas ?? minReplicaCount ?? 0)) problems.push('its cap is below its least; correct one');
    return problems.map((message) => ({ object: idOf(scaler), message }));
  });
}

export function ports(objects) {
  const workloads = workloadsOf(objects);
  const portsOf = ({ containers }) => containers.flatMap(({ ports: own = [] }) => own);
  const has = (workload, port) =>
    portsOf(workload).some(({ name, containerPort }) => port === name || port === containerPort);
  return [
    ...ofKind(objects, 'Service').flatMap((service) =>
      service.spec?.selector
        ? workloads
            .filter(
              (workload) =>
                workload.namespace === namespaceOf(service) &&
                matches({ matchLabels: service.spec.selector }, workload.labels),
            )
            .flatMap((workload) =>
              (service.spec.ports ?? [])
                .map(({ port, targetPort }) => targetPort ?? port)
                .filter((port) => !has(workload, port))
                .map((port) => [service, `its port ${port} is none of ${workload.id}`]),
            )
        : [],
    ),
    ...workloads.flatMap(({ object, containers }) =>
      containers.flatMap((container) =>
        ['livenessProbe', 'readinessProbe', 'startupProbe']
          .map((probe) => container[probe]?.httpGet?.port ?? container[probe]?.tcpSocket?.port)
          .filter((port) => port !== undefined && !has({ containers: [container] }, port))
          .map((port) => [object, `a probe of ${container.name} asks port ${port}, which is not in its ports`]),
      ),
    ),
    ...ofKind(objects, 'NetworkPolicy').flatMap((policy) =>
      (policy.spec?.ingress ?? [])
        .flatMap(({ ports: own = [] }) => own.map(({ port }) => port))
        .filter((port) => port !== undefined)
        .filter((port) => !selectedBy(policy, workloads).some((workload) => has(workload, port)))
        .filter(() => selectedBy(policy, workloads).length > 0)
        .map((port) => [policy, `opens port ${port}, which none of its pods has`]),
    ),
    ...ofKind(objects, 'PodMonitor').flatMap((monitor) =>
      (monitor.spec?.podMetricsEndpoints ?? [])
        .map(({ port }) => port)
        .filter(
          (port) =>
            port !== undefined &&
            !workloads.some((workload) => matches(monitor.spec.selector, workload.labels) && has(workload, port)),
        )
        .map((port) => [monitor, `scrapes port ${port}, which none of its pods has`]),
    ),
  ].map(([object, problem]) => ({ object: idOf(object), message: `${problem}; correct the port` }));
}

const selectedBy = (policy, workloads) =>
  workloads.filter(
    ({ namespace, labels }) => namespace === namespaceOf(policy) && matches(policy.spec.podSelector, labels),
  );
