import { container, find, maker, ofPod, pod, variables, type BrokenManifests } from './broken-by';
import type { Manifest } from './parts';

const SIZE = { cpu: '1', memory: '1Gi' };
const cluster = (resources: Manifest): Manifest => ({
  apiVersion: 'postgresql.cnpg.io/v1',
  kind: 'Cluster',
  metadata: { name: 'postgres', namespace: 'hindcast' },
  spec: { instances: 3, resources },
});

export const placementTwins: readonly BrokenManifests[] = [
  ...ofPod(
    'gpu',
    'trainer',
    ['no selector', (trainer) => delete trainer.nodeSelector, 'set nodeSelector nvidia.com/gpu.present'],
    ['no toleration', (trainer) => delete trainer.tolerations, 'tolerate the taint nvidia.com/gpu'],
    [
      'a request without its limit',
      ({ containers: [{ resources }] }) => {
        delete resources.limits['nvidia.com/gpu'];
        resources.requests['nvidia.com/gpu'] = 1;
      },
      'set resources.limits.nvidia.com/gpu',
    ],
    [
      'a request of more than the limit',
      ({ containers: [{ resources }] }) => (resources.requests['nvidia.com/gpu'] = 2),
      'must equal the limit',
    ],
    ['no product', (trainer) => delete trainer.affinity, 'add a node affinity on nvidia.com/gpu.product'],
  ),
  {
    why: 'a trainer without a GPU where there is one',
    rule: 'gpu',
    object: 'Deployment/trainer',
    says: 'set resources.limits.nvidia.com/gpu: 1',
    overlay: 'gpu',
    change: (objects) => delete container(objects, 'trainer').resources.limits['nvidia.com/gpu'],
  },
  {
    why: 'a GPU where there is none',
    rule: 'gpu',
    object: 'Deployment/vllm-policy',
    says: 'this overlay has none',
    overlay: 'local',
    change: (objects) => delete container(objects, 'trainer').resources.limits['nvidia.com/gpu'],
  },
  ...ofPod(
    'gpu-nodes',
    'gateway',
    ['no affinity', (gateway) => delete gateway.affinity, 'could occupy a GPU node'],
    [
      'an alternative that allows it',
      ({ affinity }) =>
        affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.push({
          matchExpressions: [{ key: 'kubernetes.io/os', operator: 'In', values: ['linux'] }],
        }),
      'could occupy a GPU node',
    ],
    [
      'a toleration of everything',
      (gateway) => (gateway.tolerations = [{ operator: 'Exists' }]),
      'needs no GPU and tolerates the taint',
    ],
  ),
  {
    why: 'two of them',
    rule: 'trainer',
    object: 'Deployment/trainer',
    says: 'set replicas: 1',
    change: (objects) => (maker(objects, 'trainer').spec.replicas = 2),
  },
  {
    why: 'two of them for the time of an update',
    rule: 'trainer',
    object: 'Deployment/trainer',
    says: 'set strategy.type: Recreate',
    change: (objects) => delete maker(objects, 'trainer').spec.strategy,
  },
  {
    why: 'one that is scaled',
    rule: 'trainer',
    object: 'Deployment/trainer',
    says: 'is scaled by HorizontalPodAutoscaler/gateway',
    also: ['replicas'],
    change: (objects) => (find(objects, 'HorizontalPodAutoscaler', 'gateway').spec.scaleTargetRef.name = 'trainer'),
  },
  ...ofPod('grace', 'gateway', [
    'less than the service may need',
    (gateway) => (gateway.terminationGracePeriodSeconds = 49),
    'may need 50 s to end',
  ]),
  {
    why: 'a number beside an autoscaler',
    rule: 'replicas',
    object: 'Deployment/gateway',
    says: 'sets replicas, which HorizontalPodAutoscaler/gateway decides',
    change: (objects) => (maker(objects, 'gateway').spec.replicas = 2),
  },
  {
    why: 'two autoscalers',
    rule: 'replicas',
    object: 'Deployment/judge-svc',
    says: 'is scaled by HorizontalPodAutoscaler/gateway and ScaledObject/judge-svc',
    change: (objects) => (find(objects, 'HorizontalPodAutoscaler', 'gateway').spec.scaleTargetRef.name = 'judge-svc'),
  },
  {
    why: 'an update that takes some away first',
    rule: 'rolling',
    object: 'Deployment/judge-svc',
    says: 'set strategy.rollingUpdate.maxUnavailable: 0',
    change: (objects) => (maker(objects, 'judge-svc').spec.strategy.rollingUpdate.maxUnavailable = '25%'),
  },
  {
    why: 'a gateway that stops while it is still sent requests',
    rule: 'rolling',
    object: 'Deployment/gateway',
    says: 'set SHUTDOWN_DELAY_SECONDS',
    change: (objects) => delete variables(objects, 'gateway').SHUTDOWN_DELAY_SECONDS,
  },
  {
    why: 'a database that could land there',
    rule: 'gpu-nodes',
    object: 'Cluster/postgres',
    says: 'could occupy a GPU node',
    // Nothing of the good manifests opens a way to it.
    also: ['arrows'],
    change: (objects) => objects.push(cluster({ requests: SIZE, limits: SIZE })),
  },
  {
    why: 'a database without limits',
    rule: 'resources',
    object: 'Cluster/postgres',
    says: 'set resources.limits.memory',
    also: ['gpu-nodes', 'arrows'],
    change: (objects) => objects.push(cluster({ requests: SIZE })),
  },
  {
    why: 'a broker that training would displace',
    rule: 'priorities',
    object: 'StatefulSet/nats',
    says: 'does not outrank the trainer',
    change: (objects) => (pod(objects, 'nats').priorityClassName = 'training'),
  },
];
