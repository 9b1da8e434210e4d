import { networkPolicy, policyOf } from './network';
import {
  NAME,
  NAMESPACE,
  account,
  configMap,
  container,
  deployment,
  gpuContainer,
  meta,
  onGpu,
  service,
  template,
  variables,
  type Manifest,
} from './parts';

/** Objects that no rule of the overlay `production` finds fault with; a new copy each time. */
export function goodManifests(): Manifest[] {
  const apps = ['gateway', 'judge-svc', 'dispatcher', 'dispatcher-migrate', 'trainer', 'vllm-policy', 'nats'];
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'serving' }, value: 1000 },
    { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'training' }, value: 10 },
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
        { ...onGpu, priorityClassName: 'training' },
      ),
      { replicas: 1, strategy: { type: 'Recreate' } },
    ),
    deployment(
      'vllm-policy',
      template(
        'vllm-policy',
        [
          container('vllm-policy', 'vllm/vllm-openai:v0.10.0', 8000, {
            ...gpuContainer,
            command: ['vllm', 'serve'],
            args: ['/models/qwen', '--served-model-name=qwen', '--enable-lora', '--max-lora-rank', '32'],
            env: [{ name: 'VLLM_ALLOW_RUNTIME_LORA_UPDATING', value: 'True' }],
          }),
        ],
        onGpu,
      ),
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
