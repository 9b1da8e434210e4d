// What computes on a GPU lands on a node that has one, and, where GPU nodes are kept free, nothing else does.
import { idOf, ofKind, requestsGpu, workloadsOf } from '../objects.mjs';

const GPU = 'nvidia.com/gpu';
const PRESENT = 'nvidia.com/gpu.present';
const PRODUCT = 'nvidia.com/gpu.product';
const NEEDS_GPU = ['trainer', 'vllm-policy', 'vllm-judge'];

export function gpu(objects, { overlay }) {
  return workloadsOf(objects).flatMap((workload) => {
    const say = (message) => ({ object: workload.id, message });
    if (!requestsGpu(workload))
      return overlay.hasGpu && NEEDS_GPU.includes(workload.app)
        ? [say(`computes on a GPU in this overlay; set resources.limits.${GPU}: 1`)]
        : [];
    if (overlay.hasGpu === false) return [say(`asks for a GPU, and this overlay has none; delete ${GPU}`)];
    return gpuProblems(workload).map(say);
  });
}

function gpuProblems({ app, pod, containers }) {
  const problems = [];
  if (pod.nodeSelector?.[PRESENT] !== 'true') problems.push(`set nodeSelector ${PRESENT}: "true"`);
  if (!toleratesGpu(pod)) problems.push(`tolerate the taint ${GPU} (operator: Exists, effect: NoSchedule)`);
  for (const { name, resources } of containers) {
    const limit = resources?.limits?.[GPU];
    const request = resources?.requests?.[GPU];
    if (request !== undefined && limit === undefined)
      problems.push(`container ${name}: set resources.limits.${GPU}, as a request alone is refused`);
    else if (request !== undefined && String(request) !== String(limit))
      problems.push(`container ${name}: resources.requests.${GPU} must equal the limit; delete it`);
  }
  if (app === 'trainer' && !JSON.stringify(pod.affinity?.nodeAffinity ?? {}).includes(`"${PRODUCT}"`))
    problems.push(`add a node affinity on ${PRODUCT}, with the products that this overlay trains on`);
  return problems;
}

export function gpuNodes(objects, { overlay }) {
  if (!overlay.keepsGpuNodesFree) return [];
  return [...workloadsOf(objects).filter((workload) => !requestsGpu(workload)), ...clustersOf(objects)].flatMap(
    ({ id, pod }) => [
      ...(toleratesGpu(pod)
        ? [{ object: id, message: `needs no GPU and tolerates the taint ${GPU}; delete that` }]
        : []),
      ...(avoidsGpuNodes(pod)
        ? []
        : [{ object: id, message: `could occupy a GPU node; require a node affinity with ${PRESENT} DoesNotExist` }]),
    ],
  );
}

/** CloudNativePG hands its own affinity on to the pods. */
const clustersOf = (objects) =>
  ofKind(objects, 'Cluster').map((cluster) => {
    const { nodeAffinity, tolerations } = cluster.spec?.affinity ?? {};
    return { id: idOf(cluster), pod: { affinity: { nodeAffinity }, tolerations } };
  });

const toleratesGpu = ({ tolerations = [] }) =>
  tolerations.some(
    ({ key, operator, effect }) =>
      (key === undefined ? operator === 'Exists' : key === GPU) && (effect === undefined || effect === 'NoSchedule'),
  );

/** The terms are alternatives, so each must say it. */
function avoidsGpuNodes(pod) {
  const terms = pod.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return (
    terms.length > 0 &&
    terms.every(({ matchExpressions = [] }) =>
      matchExpressions.some(
        ({ key, operator, values = [] }) =>
          key === PRESENT && (operator === 'DoesNotExist' || (operator === 'NotIn' && values.includes('true'))),
      ),
    )
  );
}
