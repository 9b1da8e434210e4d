import { find, pod, container, policy, type BrokenManifests } from './broken-by';

export const targetTwins: readonly BrokenManifests[] = [
  {
    why: 'a Service of no pod',
    rule: 'selectors',
    object: 'Service/vllm-policy',
    says: 'spec.selector selects no pod',
    change: (objects) => (find(objects, 'Service', 'vllm-policy').spec.selector = { app: 'vllm-policy' }),
  },
  {
    why: 'a disruption budget of no pod',
    rule: 'selectors',
    object: 'PodDisruptionBudget/gateway',
    says: 'spec.selector selects no pod',
    change: (objects) =>
      (find(objects, 'PodDisruptionBudget', 'gateway').spec.selector.matchLabels['app.kubernetes.io/name'] = 'gatevay'),
  },
  {
    why: 'a policy of no pod',
    rule: 'selectors',
    object: 'NetworkPolicy/teacher',
    says: 'spec.podSelector selects no pod',
    change: (objects) =>
      objects.push({
        ...find(objects, 'NetworkPolicy', 'default-deny'),
        metadata: { name: 'teacher', namespace: 'hindcast' },
        spec: { podSelector: { matchLabels: { app: 'teacher' } } },
      }),
  },
  {
    why: 'a spread over pods of another name',
    rule: 'selectors',
    object: 'Deployment/gateway',
    says: 'a topology spread selects no pod',
    change: (objects) =>
      (pod(objects, 'gateway').topologySpreadConstraints = [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: { app: 'gateway' } },
        },
      ]),
  },
  {
    why: 'a monitor of no Service',
    rule: 'monitors',
    object: 'ServiceMonitor/gateway',
    says: 'selects no Service',
    change: (objects) => (find(objects, 'ServiceMonitor', 'gateway').spec.selector.matchLabels = { app: 'gateway' }),
  },
  {
    why: 'a monitor of a port without that name',
    rule: 'monitors',
    object: 'ServiceMonitor/gateway',
    says: 'none of gateway has a port named metrics',
    change: (objects) => (find(objects, 'ServiceMonitor', 'gateway').spec.endpoints[0].port = 'metrics'),
  },
  {
    why: 'an autoscaler of nothing',
    rule: 'scale-targets',
    object: 'HorizontalPodAutoscaler/gateway',
    says: 'scales Deployment/gatevay, which is not there',
    change: (objects) => (find(objects, 'HorizontalPodAutoscaler', 'gateway').spec.scaleTargetRef.name = 'gatevay'),
  },
  {
    why: 'a trigger with credentials that are not there',
    rule: 'scale-targets',
    object: 'ScaledObject/judge-svc',
    says: 'there is no TriggerAuthentication/nats',
    change: (objects) =>
      (find(objects, 'ScaledObject', 'judge-svc').spec.triggers[0].authenticationRef = { name: 'nats' }),
  },
  {
    why: 'an autoscaler without a cap',
    rule: 'scale-targets',
    object: 'ScaledObject/judge-svc',
    says: 'has no cap',
    change: (objects) => delete find(objects, 'ScaledObject', 'judge-svc').spec.maxReplicaCount,
  },
  {
    why: 'a Service of a port that the pods lack',
    rule: 'ports',
    object: 'Service/gateway',
    says: 'its port web is none of Deployment/gateway',
    change: (objects) => (find(objects, 'Service', 'gateway').spec.ports[0].targetPort = 'web'),
  },
  {
    why: 'a probe of a port that the container lacks',
    rule: 'ports',
    object: 'Deployment/gateway',
    says: 'a probe of gateway asks port 8081',
    change: (objects) => (container(objects, 'gateway').livenessProbe.httpGet.port = 8081),
  },
  {
    why: 'a policy of a port that the pods lack',
    rule: 'ports',
    object: 'NetworkPolicy/gateway',
    says: 'opens port 9090, which none of its pods has',
    change: (objects) => policy(objects, 'gateway').ingress[0].ports.push({ port: 9090 }),
  },
];
