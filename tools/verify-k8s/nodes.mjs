const GPU = 'nvidia.com/gpu';

/** A node as kwok simulates it; it has whatever it says it has. */
function node(name, zone, { labels = {}, taints = [], resources }) {
  const capacity = { pods: '110', 'ephemeral-storage': '500Gi', ...resources };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'topology.kubernetes.io/zone': zone,
        ...labels,
      },
    },
    spec: { taints },
    status: { capacity, allocatable: capacity },
  };
}

export const plainNodes = () =>
  ['plain-1', 'plain-2', 'plain-3'].map((name, index) =>
    node(name, `zone-${index + 1}`, { resources: { cpu: '16', memory: '64Gi' } }),
  );

/** A node as NVIDIA's operator labels it and an administrator taints it. `gpus`: how many, each for one pod. */
export const gpuNode = (name, product, gpus) =>
  node(name, 'zone-1', {
    labels: {
      'nvidia.com/gpu.present': 'true',
      'nvidia.com/gpu.product': product,
      'nvidia.com/gpu.count': String(gpus),
    },
    taints: [{ key: GPU, value: 'present', effect: 'NoSchedule' }],
    resources: { cpu: '64', memory: '512Gi', [GPU]: String(gpus) },
  });
