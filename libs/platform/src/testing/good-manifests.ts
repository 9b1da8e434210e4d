/** What kustomize could render for a cluster with GPUs, reduced to one of each thing that `check:k8s` has a rule for. */

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- manifests are read and broken by path
export type Manifest = any;

const NAMESPACE = 'hindcast';
const NAME = 'app.kubernetes.io/name';
const GPU = { 'nvidia.com/gpu': 1 };

const meta = (name: string): Manifest => ({ name, namespace: NAMESPACE, labels: { [NAME]: name } });
const probe = (port: number): Manifest => ({ httpGet: { path: '/healthz', port } });

const account = (name: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: meta(name),
  automountServiceAccountToken: false,
});

function container(name: string, image: string, port: number, rest: Manifest = {}): Manifest {
  return {
    name,
    image,
    ports: [{ name: 'http', containerPort: port }],
    livenessProbe: probe(port),
    readinessProbe: probe(port),
    resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'data', mountPath: '/data' },
      { name: 'tmp', mountPath: '/tmp' },
    ],
    ...rest,
  };
}

function template(name: string, containers: Manifest[], rest: Manifest = {}): Manifest {
  return {
    metadata: { labels: { [NAME]: name } },
    spec: {
      serviceAccountName: name,
      automountServiceAccountToken: false,
      priorityClassName: 'serving',
      terminationGracePeriodSeconds: 60,
      securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } },
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'nvidia.com/gpu.present', operator: 'DoesNotExist' }] }],
          },
        },
      },
      containers,
      volumes: [
        { name: 'data', emptyDir: {} },
        { name: 'tmp', emptyDir: {} },
      ],
      ...rest,
    },
  };
}

const onGpu = {
  nodeSelector: { 'nvidia.com/gpu.present': 'true' },
  tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'nvidia.com/gpu.product', operator: 'In', values: ['NVIDIA-L40S'] }] },
        ],
      },
    },
  },
  volumes: [
    { name: 'data', emptyDir: {} },
    { name: 'tmp', emptyDir: {} },
    { name: 'policies', persistentVolumeClaim: { claimName: 'policies' } },
  ],
};
const gpuContainer = {
  resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi', ...GPU } },
  volumeMounts: [
    { name: 'data', mountPath: '/data' },
    { name: 'tmp', mountPath: '/tmp' },
    { name: 'policies', mountPath: '/policies' },
  ],
};

const deployment = (name: string, pod: Manifest, spec: Manifest = {}): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: meta(name),
  spec: { selector: { matchLabels: { [NAME]: name } }, template: pod, ...spec },
});

const service = (name: string, port: number): Manifest => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: meta(name),
  spec: { selector: { [NAME]: name }, ports: [{ name: 'http', port, targetPort: port }] },
});

const configMap = (name: string, data: Record<string, string>): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: meta(name),
  data: { HOST: '0.0.0.0', DATA_DIR: '/data', NATS_URL: 'nats://nats:4222', NATS_REPLICAS: '3', ...data },
});

/** The variables of a service: its ConfigMap, and single keys of the one Secret. */
const variables = (name: string, secretKeys: string[] = []): Manifest => ({
  envFrom: [{ configMapRef: { name } }],
  env: secretKeys.map((key) => ({ name: key, valueFrom: { secretKeyRef: { name: 'secrets', key } } })),
});

/** `[from, to, port]` between pods of the namespace. */
const inside: readonly (readonly [string, string, number])[] = [
  ['gateway', 'nats', 4222],
  ['judge-svc', 'nats', 4222],
  ['dispatcher', 'nats', 4222],
  ['trainer', 'nats', 4222],
  ['nats', 'nats', 6222],
  ['gateway', 'vllm-policy', 8000],
  ['trainer', 'vllm-policy', 8000],
];
const fromOutside: Readonly<Record<string, readonly [Manifest, number][]>> = {
  gateway: [
    [{ namespaceSelector: { matchLabels: { 'hindcast/gateway-client': 'true' } } }, 8080],
    [monitoring(), 8080],
  ],
  'judge-svc': [[monitoring(), 8081]],
  dispatcher: [[monitoring(), 8083]],
  trainer: [[monitoring(), 8084]],
  'vllm-policy': [[monitoring(), 8000]],
  nats: [[{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'keda' } } }, 8222]],
};
const anyAddress = { ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] } };
const toOutside: Readonly<Record<string, readonly [Manifest, number][]>> = {
  'judge-svc': [[anyAddress, 443]],
  dispatcher: [[anyAddress, 5432]],
  'dispatcher-migrate': [[anyAddress, 5432]],
};

function monitoring(): Manifest {
  return { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } };
}

const networkPolicy = (name: string, spec: Manifest): Manifest => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name, namespace: NAMESPACE },
  spec: { policyTypes: ['Ingress', 'Egress'], ...spec },
});

function policyOf(app: string): Manifest {
  const peer = (name: string): Manifest => ({ podSelector: { matchLabels: { [NAME]: name } } });
  const egress = [
    ...inside.filter(([from]) => from === app).map(([, to, port]) => [peer(to), port] as const),
    ...(toOutside[app] ?? []),
  ];
  const ingress = [
    ...inside.filter(([, to]) => to === app).map(([from, , port]) => [peer(from), port] as const),
    ...(fromOutside[app] ?? []),
  ];
  return networkPolicy(app, {
    podSelector: { matchLabels: { [NAME]: app } },
    ingress: ingress.map(([from, port]) => ({ from: [from], ports: [{ port }] })),
    egress: egress.map(([to, port]) => ({ to: [to], ports: [{ port }] })),
  });
}

/** Objects that no rule of the overlay `production` finds fault with; a new copy each time. */
export function goodManifests(): Manifest[] {
  const apps = ['gateway', 'judge-svc', 'dispatcher', 'dispatcher-migrate', 'trainer', 'vllm-policy', 'nats'];
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'serving' }, value: 1000 },
    ...apps.map(account),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: meta('secrets'),
      stringData: { SESSION_SECRET: '', API_KEYS: '', DATABASE_URL: '', JUDGE_API_KEY: '' },
    },
    configMap('gateway', {
      POLICY_BASE_URL: 'http://vllm-policy:8000/v1',
      POLICY_MODEL: 'qwen',
      SHUTDOWN_DELAY_SECONDS: '10',
    }),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'hindcast-settings', namespace: NAMESPACE },
      data: { METHOD: 'combine' },
    },
    configMap('judge-svc', { JUDGE_BASE_URL: 'https://judge.example.com/v1', JUDGE_MODEL: 'judge' }),
    configMap('dispatcher', { METHOD: 'combine' }),
    configMap('trainer', {
      METHOD: 'combine',
      MODEL_DIR: '/models/qwen',
      POLICY_DIR: '/policies',
      POLICY_BASE_URL: 'http://vllm-policy:8000/v1',
    }),
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: meta('policies'),
      spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '10Gi' } } },
    },
    service('gateway', 8080),
    service('nats', 4222),
    service('vllm-policy', 8000),
    deployment(
      'gateway',
      template('gateway', [
        container('gateway', 'hindcast/gateway:0.1.0', 8080, variables('gateway', ['SESSION_SECRET', 'API_KEYS'])),
      ]),
    ),
    deployment(
      'judge-svc',
      template('judge-svc', [
        container('judge-svc', 'hindcast/judge-svc:0.1.0', 8081, variables('judge-svc', ['JUDGE_API_KEY'])),
      ]),
    ),
    deployment(
      'dispatcher',
      template('dispatcher', [
        container('dispatcher', 'hindcast/dispatcher:0.1.0', 8083, variables('dispatcher', ['DATABASE_URL'])),
      ]),
    ),
    deployment(
      'trainer',
      template(
        'trainer',
        [container('trainer', 'hindcast/trainer:0.1.0', 8084, { ...variables('trainer'), ...gpuContainer })],
        onGpu,
      ),
      { replicas: 1, strategy: { type: 'Recreate' } },
    ),
    deployment(
      'vllm-policy',
      template('vllm-policy', [container('vllm-policy', 'vllm/vllm-openai:v0.10.0', 8000, gpuContainer)], onGpu),
    ),
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: meta('nats'),
      spec: {
        serviceName: 'nats',
        replicas: 3,
        selector: { matchLabels: { [NAME]: 'nats' } },
        template: template('nats', [
          container('nats', 'nats:2.11.10-alpine', 4222, {
            ports: [{ containerPort: 4222 }, { containerPort: 6222 }, { containerPort: 8222 }],
          }),
        ]),
      },
    },
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: meta('dispatcher-migrate'),
      spec: {
        template: template(
          'dispatcher-migrate',
          [
            container('migrate', 'hindcast/dispatcher:0.1.0', 8083, {
              command: ['node', 'main.js', 'migrate'],
              env: [{ name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'secrets', key: 'DATABASE_URL' } } }],
              ports: [],
              livenessProbe: undefined,
              readinessProbe: undefined,
            }),
          ],
          { restartPolicy: 'OnFailure' },
        ),
      },
    },
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: meta('gateway'),
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'gateway' },
        minReplicas: 2,
        maxReplicas: 10,
      },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: meta('gateway'),
      spec: { maxUnavailable: 1, selector: { matchLabels: { [NAME]: 'gateway' } } },
    },
    {
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'ScaledObject',
      metadata: meta('judge-svc'),
      spec: {
        scaleTargetRef: { name: 'judge-svc' },
        maxReplicaCount: 8,
        triggers: [
          {
            type: 'nats-jetstream',
            metadata: {
              natsServerMonitoringEndpoint: 'nats.hindcast.svc:8222',
              account: '$G',
              stream: 'RL',
              consumer: 'judge-svc--rl-v1-turn-paired',
              lagThreshold: '20',
            },
          },
        ],
      },
    },
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'ServiceMonitor',
      metadata: meta('gateway'),
      spec: { selector: { matchLabels: { [NAME]: 'gateway' } }, endpoints: [{ port: 'http' }] },
    },
    networkPolicy('default-deny', { podSelector: {} }),
    networkPolicy('dns', {
      podSelector: { matchExpressions: [{ key: NAME, operator: 'NotIn', values: ['vllm-policy'] }] },
      egress: [
        {
          to: [
            {
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
              podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
            },
          ],
          ports: [
            { port: 53, protocol: 'UDP' },
            { port: 53, protocol: 'TCP' },
          ],
        },
      ],
    }),
    ...apps.map(policyOf),
  ];
  const nats = objects.find(
    ({ kind, metadata }: Manifest) => kind === 'Service' && metadata.name === 'nats',
  ) as Manifest;
  nats.spec.ports.push({ name: 'monitor', port: 8222, targetPort: 8222 });
  return JSON.parse(JSON.stringify(objects)) as Manifest[];
}
