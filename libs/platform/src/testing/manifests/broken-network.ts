import { policy, drop, type BrokenManifests } from './broken-by';

export const networkTwins: readonly BrokenManifests[] = [
  {
    why: 'a pod that no policy selects',
    rule: 'isolation',
    object: 'Deployment/vllm-policy',
    says: 'no NetworkPolicy restricts its ingress',
    also: ['arrows'],
    change: (objects) => {
      drop(objects, 'NetworkPolicy', 'default-deny');
      drop(objects, 'NetworkPolicy', 'vllm-policy');
    },
  },
  {
    why: 'an arrow that lacks its egress',
    rule: 'arrows',
    object: 'Deployment/gateway',
    says: 'gateway → nats:4222 is needed (messages and buckets) and its egress is not allowed',
    change: (objects) => policy(objects, 'gateway').egress.shift(),
  },
  {
    why: 'an arrow that lacks its ingress',
    rule: 'arrows',
    object: 'StatefulSet/nats',
    says: 'judge-svc → nats:4222 is needed (messages and buckets) and its ingress is not allowed',
    change: (objects) => policy(objects, 'nats').ingress.splice(1, 1),
  },
  {
    why: 'an arrow too many',
    rule: 'arrows',
    object: 'StatefulSet/nats',
    says: 'vllm-policy → nats:4222 is allowed by its ingress',
    change: (objects) =>
      policy(objects, 'nats').ingress.push({
        from: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'vllm-policy' } } }],
        ports: [{ port: 4222 }],
      }),
  },
  {
    why: 'every port instead of one',
    rule: 'arrows',
    object: 'Deployment/judge-svc',
    says: 'judge-svc → elsewhere:every port is allowed by its egress',
    change: (objects) => delete policy(objects, 'judge-svc').egress.at(-1).ports,
  },
  {
    why: 'the credentials of the machine',
    rule: 'arrows',
    object: 'Deployment/judge-svc',
    says: 'judge-svc → the metadata service:443 is allowed by its egress',
    change: (objects) => delete policy(objects, 'judge-svc').egress.at(-1).to[0].ipBlock.except,
  },
  {
    why: 'a door for every namespace',
    rule: 'arrows',
    object: 'Deployment/gateway',
    says: 'a stranger → gateway:8080 is allowed by its ingress',
    change: (objects) => (policy(objects, 'gateway').ingress[0].from[0].namespaceSelector = {}),
  },
  {
    why: 'no names',
    rule: 'arrows',
    object: 'Deployment/trainer',
    says: 'trainer → dns:53/UDP is needed',
    change: (objects) => policy(objects, 'dns').podSelector.matchExpressions[0].values.push('trainer'),
  },
];
