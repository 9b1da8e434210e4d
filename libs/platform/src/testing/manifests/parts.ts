/** Pieces of manifests as they should be. */

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- manifests are read and broken by path
export type Manifest = any;

export const NAMESPACE = 'hindcast';
export const NAME = 'app.kubernetes.io/name';
const GPU = { 'nvidia.com/gpu': 1 };

export const meta = (name: string): Manifest => ({ name, namespace: NAMESPACE, labels: { [NAME]: name } });
const probe = (port: number): Manifest => ({ httpGet: { path: '/healthz', port } });

export const account = (name: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: meta(name),
  automountServiceAccountToken: false,
});

export function container(name: string, image: string, port: number, rest: Manifest = {}): Manifest {
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

export function template(name: string, containers: Manifest[], rest: Manifest = {}): Manifest {
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

export const onGpu = {
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
export const gpuContainer = {
  resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi', ...GPU } },
  volumeMounts: [
    { name: 'data', mountPath: '/data' },
    { name: 'tmp', mountPath: '/tmp' },
    { name: 'policies', mountPath: '/policies' },
  ],
};

export const deployment = (name: string, pod: Manifest, spec: Manifest = {}): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: meta(name),
  spec: {
    selector: { matchLabels: { [NAME]: name } },
    strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    template: pod,
    ...spec,
  },
});

export const service = (name: string, port: number): Manifest => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: meta(name),
  spec: { selector: { [NAME]: name }, ports: [{ name: 'http', port, targetPort: port }] },
});

export const configMap = (name: string, data: Record<string, string>): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: meta(name),
  data: { HOST: '0.0.0.0', DATA_DIR: '/data', NATS_URL: 'nats://nats:4222', NATS_REPLICAS: '3', ...data },
});

/** The variables of a service: its ConfigMap, and single keys of the one Secret. */
export const variables = (name: string, secretKeys: string[] = []): Manifest => ({
  envFrom: [{ configMapRef: { name } }],
  env: secretKeys.map((key) => ({ name: key, valueFrom: { secretKeyRef: { name: 'secrets', key } } })),
});
