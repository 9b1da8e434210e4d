const GPU = 'nvidia.com/gpu';

/** GPUs that a pod asks for. */
export const gpusOf = (podSpec) =>
  (podSpec.containers ?? []).reduce((sum, { resources }) => sum + Number(resources?.limits?.[GPU] ?? 0), 0);

/** The GPU product that a pod's node affinity asks for first, or `null`. */
export function productOf(podSpec) {
  const affinity = podSpec.affinity?.nodeAffinity ?? {};
  const terms = [
    ...(affinity.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []),
    ...(affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ preference }) => preference),
  ];
  const expressions = terms.flatMap((term) => term.matchExpressions ?? []);
  return (
    expressions.find(({ key, operator }) => key === 'nvidia.com/gpu.product' && operator === 'In')?.values?.[0] ??
    podSpec.nodeSelector?.['nvidia.com/gpu.product'] ??
    null
  );
}

/** Objects that hold a pod template, with its labels and spec. */
export const templatesOf = (objects) =>
  objects
    .filter(({ kind }) => ['Deployment', 'StatefulSet', 'DaemonSet', 'Job'].includes(kind))
    .map(({ kind, metadata, spec }) => ({
      kind,
      name: metadata.name,
      replicas: spec.replicas ?? 1,
      labels: spec.template.metadata?.labels ?? {},
      spec: spec.template.spec,
    }));

/** The pods that a template's labels stand on. */
export const podsOf = (pods, { labels }) =>
  pods.filter(({ metadata }) => Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value));

/** What is wrong with where pods are: one that asks for a GPU on a node without one, one that asks for none on a GPU node. */
export function misplaced(pods, gpuNodes) {
  return pods
    .filter(({ spec }) => spec.nodeName !== undefined && gpusOf(spec) > 0 !== gpuNodes.includes(spec.nodeName))
    .map((pod) => `${pod.metadata.name} (${gpusOf(pod.spec)} GPUs) is on ${pod.spec.nodeName}`);
}
