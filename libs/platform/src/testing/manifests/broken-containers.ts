import { pod, ofContainer, ofPod, type BrokenManifests } from './broken-by';
import type { Manifest } from './parts';

const initContainer = (rest: Manifest): Manifest => ({
  name: 'fetch',
  image: 'hindcast/gateway:0.1.0',
  command: ['true'],
  resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  ...rest,
});

export const containerTwins: readonly BrokenManifests[] = [
  ...ofContainer(
    'resources',
    ['no memory limit', ({ resources }) => delete resources.limits.memory, 'set resources.limits.memory'],
    ['no requests', ({ resources }) => delete resources.requests, 'set resources.requests.cpu'],
  ),
  {
    why: 'an init container without limits',
    rule: 'resources',
    object: 'Deployment/gateway container fetch',
    says: 'set resources.limits.cpu',
    change: (objects) => (pod(objects, 'gateway').initContainers = [initContainer({ resources: undefined })]),
  },
  ...ofContainer(
    'probes',
    ['no liveness probe', (gateway) => delete gateway.livenessProbe, 'add a livenessProbe'],
    ['no readiness probe', (gateway) => delete gateway.readinessProbe, 'add a readinessProbe'],
  ),
  ...ofContainer('non-root', [
    'a container that undoes it',
    ({ securityContext }) => (securityContext.runAsNonRoot = false),
    'set securityContext.runAsNonRoot: true',
  ]),
  ...ofPod('non-root', 'nats', [
    'a pod of the root user',
    ({ securityContext }) => (securityContext.runAsUser = 0),
    'runs as user 0',
  ]),
  ...ofContainer('read-only-root', [
    'a root that can be written',
    ({ securityContext }) => delete securityContext.readOnlyRootFilesystem,
    'set securityContext.readOnlyRootFilesystem: true',
  ]),
  ...ofContainer(
    'capabilities',
    ['kept ones', ({ securityContext }) => delete securityContext.capabilities, 'capabilities.drop: [ALL]'],
    ['an added one', ({ securityContext }) => (securityContext.capabilities.add = ['NET_RAW']), 'adds capabilities'],
    [
      'a way to more',
      ({ securityContext }) => delete securityContext.allowPrivilegeEscalation,
      'set securityContext.allowPrivilegeEscalation: false',
    ],
    ['a privileged one', ({ securityContext }) => (securityContext.privileged = true), 'is privileged'],
  ),
  ...ofPod('seccomp', 'trainer', [
    'no profile',
    ({ securityContext }) => delete securityContext.seccompProfile,
    'seccompProfile.type: RuntimeDefault',
  ]),
  ...ofPod('token', 'judge-svc', [
    'a token in the pod',
    (judge) => delete judge.automountServiceAccountToken,
    'set automountServiceAccountToken: false',
  ]),
  ...ofPod(
    'host',
    'gateway',
    ["the node's network", (gateway) => (gateway.hostNetwork = true), 'delete hostNetwork'],
    [
      "a folder of the node's",
      ({ volumes }) => volumes.push({ name: 'node', hostPath: { path: '/var' } }),
      'volume node is a folder of the node',
    ],
    [
      "a port of the node's",
      ({ containers }) => (containers[0].ports[0].hostPort = 8080),
      'takes port 8080 of the node',
    ],
  ),
  ...ofContainer(
    'images',
    ['latest', (gateway) => (gateway.image = 'hindcast/gateway:latest'), 'changes under its name'],
    ['an app that there is not', (gateway) => (gateway.image = 'hindcast/gatevay:0.1.0'), 'holds no app'],
    ['no tag', (gateway) => (gateway.image = 'registry:5000/hindcast/gateway'), 'has no tag'],
  ),
];
