import type { Manifest } from './good-manifests';

/** One fault put into the good manifests, the one rule that must find it, the object and a part of what it says. */
export interface BrokenManifests {
  readonly why: string;
  readonly rule: string;
  readonly object: string;
  readonly says: string;
  readonly change: (objects: Manifest[]) => void;
  /** Rules that the same fault must break too. */
  readonly also?: readonly string[];
  /** As which overlay; default `production`. */
  readonly overlay?: string;
}

const find = (objects: Manifest[], kind: string, name: string): Manifest => {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (!found) throw new Error(`the good manifests have no ${kind}/${name}`);
  return found;
};
const makers = ['Deployment', 'StatefulSet', 'Job'];
const maker = (objects: Manifest[], name: string): Manifest =>
  objects.find(({ kind, metadata }) => makers.includes(kind) && metadata.name === name);
const pod = (objects: Manifest[], name: string): Manifest => maker(objects, name).spec.template.spec;
const container = (objects: Manifest[], name: string): Manifest => pod(objects, name).containers[0];
const variables = (objects: Manifest[], name: string): Manifest => find(objects, 'ConfigMap', name).data;
const policy = (objects: Manifest[], name: string): Manifest => find(objects, 'NetworkPolicy', name).spec;
const trigger = (objects: Manifest[]): Manifest => find(objects, 'ScaledObject', 'judge-svc').spec.triggers[0].metadata;
const drop = (objects: Manifest[], kind: string, name: string): void =>
  void objects.splice(objects.indexOf(find(objects, kind, name)), 1);

/** `[change, message]` of the container of gateway. */
const ofContainer = (
  rule: string,
  ...twins: readonly (readonly [why: string, change: (container: Manifest) => void, says: string])[]
): BrokenManifests[] =>
  twins.map(([why, change, says]) => ({
    why,
    rule,
    object: 'Deployment/gateway container gateway',
    says,
    change: (objects) => change(container(objects, 'gateway')),
  }));

const ofPod = (
  rule: string,
  name: string,
  ...twins: readonly (readonly [why: string, change: (pod: Manifest) => void, says: string])[]
): BrokenManifests[] =>
  twins.map(([why, change, says]) => ({
    why,
    rule,
    object: `/${name}`,
    says,
    change: (objects) => change(pod(objects, name)),
  }));

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

const schemaTwins: BrokenManifests[] = [
  {
    why: 'a key that no Deployment has',
    rule: 'schema',
    object: 'Deployment/gateway',
    says: 'spec has no key "replica"',
    change: (objects) => (find(objects, 'Deployment', 'gateway').spec.replica = 2),
  },
  {
    why: 'a key that is indented too little',
    rule: 'schema',
    object: 'Deployment/gateway',
    says: 'spec.template.spec.containers.0 has no key "runAsUser"',
    change: (objects) => (container(objects, 'gateway').runAsUser = 10001),
  },
  {
    why: 'a number where a text belongs',
    rule: 'schema',
    object: 'ConfigMap/gateway',
    says: 'data.PORT must be of type string',
    change: (objects) => (variables(objects, 'gateway').PORT = 8080),
  },
  {
    why: 'a word that the API does not know',
    rule: 'schema',
    object: 'PersistentVolumeClaim/policies',
    says: 'spec.accessModes.1 must be one of ReadWriteOnce',
    change: (objects) => find(objects, 'PersistentVolumeClaim', 'policies').spec.accessModes.push('ReadWriteAll'),
  },
  {
    why: 'a required key that is missing',
    rule: 'schema',
    object: 'Deployment/vllm-policy',
    says: 'spec.template.spec.containers.0 lacks "name"',
    change: (objects) => delete container(objects, 'vllm-policy').name,
  },
  {
    why: 'an unknown key of a ScaledObject',
    rule: 'schema',
    object: 'ScaledObject/judge-svc',
    says: 'spec has no key "coolDown"',
    change: (objects) => (find(objects, 'ScaledObject', 'judge-svc').spec.coolDown = 60),
  },
  {
    why: 'a kind without a schema',
    rule: 'schema',
    object: 'Certificate/x',
    says: 'no schema of example.com/v1 Certificate is pinned',
    change: (objects) => objects.push({ apiVersion: 'example.com/v1', kind: 'Certificate', metadata: { name: 'x' } }),
  },
  {
    why: 'an object that is there twice',
    rule: 'schema',
    object: 'ServiceAccount/nats',
    says: 'is there twice',
    change: (objects) => objects.push(find(objects, 'ServiceAccount', 'nats')),
  },
];

const containerTwins: BrokenManifests[] = [
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
    ['no tag', (gateway) => (gateway.image = 'registry:5000/hindcast/gateway'), 'has no tag'],
  ),
];

const placementTwins: BrokenManifests[] = [
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
    (gateway) => (gateway.terminationGracePeriodSeconds = 35),
    'may need 35 s to end',
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
];

const environmentTwins: BrokenManifests[] = [
  {
    why: "another service's variable",
    rule: 'unread-variables',
    object: 'Deployment/gateway container gateway',
    says: 'gateway reads no variable JUDGE_MODEL (ConfigMap/gateway)',
    change: (objects) => (variables(objects, 'gateway').JUDGE_MODEL = 'x'),
  },
  {
    why: 'a misspelt one of a command',
    rule: 'unread-variables',
    object: 'Job/dispatcher-migrate container migrate',
    says: 'dispatcher reads no variable DATABSE_POOL_SIZE (literal)',
    change: (objects) => container(objects, 'dispatcher-migrate').env.push({ name: 'DATABSE_POOL_SIZE', value: '1' }),
  },
  ...(
    [
      ['gateway', 'POLICY_MODEL'],
      ['judge-svc', 'JUDGE_BASE_URL'],
      ['dispatcher', 'NATS_URL'],
      ['trainer', 'MODEL_DIR'],
    ] as const
  ).map(([app, name]) => ({
    why: `${app} without ${name}`,
    rule: 'needed-variables',
    object: `Deployment/${app} container ${app}`,
    says: `lacks ${name}`,
    change: (objects: Manifest[]) => delete variables(objects, app)[name],
  })),
  {
    why: 'gateways that each have a secret of their own',
    rule: 'needed-variables',
    object: 'Deployment/gateway container gateway',
    says: 'lacks SESSION_SECRET',
    change: (objects) => container(objects, 'gateway').env.shift(),
  },
  {
    why: 'a migration without a database',
    rule: 'needed-variables',
    object: 'Job/dispatcher-migrate container migrate',
    says: 'lacks DATABASE_URL',
    change: (objects) => delete container(objects, 'dispatcher-migrate').env,
  },
  {
    why: 'one that no component copies',
    rule: 'settings',
    object: 'ConfigMap/hindcast-settings',
    says: 'no component reads BATCH_SIZ',
    change: (objects) => (variables(objects, 'hindcast-settings').BATCH_SIZ = '32'),
  },
  {
    why: 'one that was not copied',
    rule: 'settings',
    object: 'ConfigMap/dispatcher',
    says: 'METHOD is "combine", and METHOD of ConfigMap/hindcast-settings is "opd"',
    change: (objects) => (variables(objects, 'hindcast-settings').METHOD = 'opd'),
  },
  {
    why: 'a value that the schema refuses',
    rule: 'values',
    object: 'Deployment/gateway container gateway',
    says: 'POLICY_DIALECT: ',
    change: (objects) => (variables(objects, 'gateway').POLICY_DIALECT = 'vlm'),
  },
  {
    why: 'values that do not go together',
    rule: 'values',
    object: 'Deployment/judge-svc container judge-svc',
    says: 'EVAL_QUORUM: 1 votes',
    change: (objects) => Object.assign(variables(objects, 'judge-svc'), { EVAL_VOTES: '1', EVAL_QUORUM: '3' }),
  },
  {
    why: 'an address that only the pod itself reaches',
    rule: 'values',
    object: 'Deployment/dispatcher container dispatcher',
    says: 'where no other pod reaches it',
    change: (objects) => (variables(objects, 'dispatcher').HOST = '127.0.0.1'),
  },
  {
    why: 'another port than the one declared',
    rule: 'values',
    object: 'Deployment/judge-svc container judge-svc',
    says: 'listens on port 9000',
    change: (objects) => (variables(objects, 'judge-svc').PORT = '9000'),
  },
  {
    why: 'a key in a ConfigMap',
    rule: 'plain-secrets',
    object: 'Deployment/gateway container gateway',
    says: 'POLICY_API_KEY is a secret in plain sight (ConfigMap/gateway)',
    change: (objects) => (variables(objects, 'gateway').POLICY_API_KEY = 'hush'),
  },
  {
    why: 'a password in a URL',
    rule: 'plain-secrets',
    object: 'Deployment/gateway container gateway',
    says: 'NATS_URL is a secret in plain sight',
    change: (objects) => (variables(objects, 'gateway').NATS_URL = 'nats://me:hush@nats:4222'),
  },
  {
    why: 'a variable that is set twice',
    rule: 'duplicate-variables',
    object: 'Job/dispatcher-migrate container migrate',
    says: 'sets LOG_LEVEL twice',
    change: (objects) =>
      container(objects, 'dispatcher-migrate').env.push(
        { name: 'LOG_LEVEL', value: 'info' },
        { name: 'LOG_LEVEL', value: 'warn' },
      ),
  },
];

const busTwins: BrokenManifests[] = [
  ...(
    [
      ['rl.v1.turn.pared', 'no contract has the subject rl.v1.turn.pared'],
      ['judge-svc--rl-v1-turn-pared', 'no service has the consumer judge-svc--rl-v1-turn-pared'],
      ['x{stream_name="RLS"}', 'there is no stream RLS'],
      ['$JS.API.STREAM.INFO.RLS', 'there is no stream RLS'],
      ['$KV.capture.>', 'there is no bucket capture'],
      ['KV_capture', 'there is no bucket capture'],
    ] as const
  ).map(([text, says]) => ({
    why: text,
    rule: 'bus-names',
    object: 'ConfigMap/gateway',
    says,
    change: (objects: Manifest[]) => (find(objects, 'ConfigMap', 'gateway').metadata.annotations = { note: text }),
  })),
  {
    why: 'a consumer of another service',
    rule: 'scaling-names',
    object: 'ScaledObject/judge-svc',
    says: 'scales judge-svc on the backlog of teacher-svc',
    change: (objects) => (trigger(objects).consumer = 'teacher-svc--rl-v1-turn-judged-hinted'),
  },
  {
    why: 'another stream than the consumer reads',
    rule: 'scaling-names',
    object: 'ScaledObject/judge-svc',
    says: 'reads the stream RL, not RL_DEAD',
    change: (objects) => (trigger(objects).stream = 'RL_DEAD'),
  },
  {
    why: 'a trigger without a stream',
    rule: 'scaling-names',
    object: 'ScaledObject/judge-svc',
    says: 'names no consumer or no stream',
    change: (objects) => delete trigger(objects).stream,
  },
  {
    why: 'an external metric of another service',
    rule: 'scaling-names',
    object: 'HorizontalPodAutoscaler/gateway',
    says: 'scales gateway on the backlog of judge-svc',
    change: (objects) =>
      (find(objects, 'HorizontalPodAutoscaler', 'gateway').spec.metrics = [
        {
          type: 'External',
          external: {
            metric: {
              name: 'hindcast_consumer_lag',
              selector: { matchLabels: { durable: 'judge-svc--rl-v1-turn-paired' } },
            },
            target: { type: 'AverageValue', averageValue: '20' },
          },
        },
      ]),
  },
];

const networkTwins: BrokenManifests[] = [
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

const targetTwins: BrokenManifests[] = [
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

const referenceTwins: BrokenManifests[] = [
  {
    why: 'a Secret that nobody makes',
    rule: 'references',
    object: 'Deployment/judge-svc',
    says: 'there is no Secret/nobody-makes-it; define it or show it in k8s/',
    change: (objects) => (container(objects, 'judge-svc').env[0].valueFrom.secretKeyRef.name = 'nobody-makes-it'),
  },
  {
    why: 'a key that a Secret lacks',
    rule: 'references',
    object: 'Deployment/judge-svc',
    says: 'Secret/secrets has no key JUDGE_API_KEY',
    change: (objects) => delete find(objects, 'Secret', 'secrets').stringData.JUDGE_API_KEY,
  },
  {
    why: 'a ConfigMap that is not there',
    rule: 'references',
    object: 'StatefulSet/nats',
    says: 'there is no ConfigMap/nats',
    change: (objects) => pod(objects, 'nats').volumes.push({ name: 'config', configMap: { name: 'nats' } }),
  },
  {
    why: 'a claim that is not there',
    rule: 'references',
    object: 'StatefulSet/nats',
    says: 'there is no PersistentVolumeClaim/models',
    change: (objects) =>
      pod(objects, 'nats').volumes.push({ name: 'models', persistentVolumeClaim: { claimName: 'models' } }),
  },
  {
    why: 'a mount of no volume',
    rule: 'references',
    object: 'StatefulSet/nats',
    says: 'container nats mounts config, which is no volume of the pod',
    change: (objects) => container(objects, 'nats').volumeMounts.push({ name: 'config', mountPath: '/etc/nats' }),
  },
  {
    why: 'an account that is not there',
    rule: 'references',
    object: 'Job/dispatcher-migrate',
    says: 'there is no ServiceAccount/dispatcher-migrate',
    change: (objects) => drop(objects, 'ServiceAccount', 'dispatcher-migrate'),
  },
  {
    why: 'a priority class that is not there',
    rule: 'references',
    object: 'Deployment/gateway',
    says: 'there is no PriorityClass/serving',
    change: (objects) => drop(objects, 'PriorityClass', 'serving'),
  },
  {
    why: 'a Service that is not there',
    rule: 'urls',
    object: 'Deployment/gateway container gateway',
    says: 'POLICY_BASE_URL names vllm:8000, which no Service is',
    change: (objects) => (variables(objects, 'gateway').POLICY_BASE_URL = 'http://vllm:8000/v1'),
  },
  {
    why: 'a port that a Service lacks',
    rule: 'urls',
    object: 'Deployment/gateway container gateway',
    says: 'NATS_URL names nats-1.nats:4223, which no Service is',
    change: (objects) => (variables(objects, 'gateway').NATS_URL = 'nats://nats-0.nats:4222,nats://nats-1.nats:4223'),
  },
  {
    why: "a name that KEDA's namespace does not have",
    rule: 'urls',
    object: 'ScaledObject/judge-svc',
    says: "natsServerMonitoringEndpoint nats:8222 is no Service as KEDA's namespace sees it",
    change: (objects) => (trigger(objects).natsServerMonitoringEndpoint = 'nats:8222'),
  },
];

const volumeTwins: BrokenManifests[] = [
  {
    why: 'a data folder on the read-only root',
    rule: 'writable',
    object: 'Deployment/gateway container gateway',
    says: 'writes to /spool',
    change: (objects) => (variables(objects, 'gateway').DATA_DIR = '/spool'),
  },
  {
    why: 'a data folder that is mounted read-only',
    rule: 'writable',
    object: 'Deployment/gateway container gateway',
    says: 'writes to /data',
    change: (objects) => (container(objects, 'gateway').volumeMounts[0].readOnly = true),
  },
  {
    why: 'one node writes, two pods mount',
    rule: 'shared-claims',
    object: 'PersistentVolumeClaim/policies',
    says: 'Deployment/trainer and Deployment/vllm-policy mount it; set accessModes: [ReadWriteMany]',
    change: (objects) => (find(objects, 'PersistentVolumeClaim', 'policies').spec.accessModes = ['ReadWriteOnce']),
  },
  {
    why: 'versions where the engine does not see them',
    rule: 'policy-folder',
    object: 'Deployment/vllm-policy',
    says: "must see the trainer's /policies",
    change: (objects) => (container(objects, 'vllm-policy').volumeMounts[2].mountPath = '/adapters'),
  },
  {
    why: 'versions that end with the pod',
    rule: 'policy-folder',
    object: 'Deployment/trainer',
    says: 'POLICY_DIR /data/policies is on no PersistentVolumeClaim',
    change: (objects) => (variables(objects, 'trainer').POLICY_DIR = '/data/policies'),
  },
  {
    why: 'fewer copies than servers would keep',
    rule: 'stream-replicas',
    object: 'Deployment/judge-svc container judge-svc',
    says: 'NATS_REPLICAS is 1 beside 3 NATS servers; set it to 3',
    change: (objects) => delete variables(objects, 'judge-svc').NATS_REPLICAS,
  },
];

export const brokenManifests: readonly BrokenManifests[] = [
  ...schemaTwins,
  ...containerTwins,
  ...placementTwins,
  ...environmentTwins,
  ...busTwins,
  ...networkTwins,
  ...targetTwins,
  ...referenceTwins,
  ...volumeTwins,
];
