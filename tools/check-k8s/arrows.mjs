// Who may talk to whom: every connection that Hindcast needs in a cluster, with its reason. The rule `arrows` compares it with what the
// rendered NetworkPolicies allow, at both ends, and fails on one too few and one too many.

/**
 * `from` and `to` are pods by their label `app.kubernetes.io/name`, or a name of {@link outside}. An arrow counts where both ends are
 * there. `ifThere`: only where the overlay has an object of this kind, `ifNamed`: of this name. `unless`: only where none of these apps is there.
 */
export const arrows = [
  { from: 'agents', to: 'gateway', ports: [8080], why: 'agents ask for answers' },

  ...['gateway', 'judge-svc', 'teacher-svc', 'dispatcher', 'trainer'].map((from) => ({
    from,
    to: 'nats',
    ports: [4222],
    why: 'messages and buckets',
  })),
  { from: 'nats', to: 'nats', ports: [6222], why: 'routes of the NATS cluster' },
  { from: 'keda', to: 'nats', ports: [8222], ifThere: 'ScaledObject', why: 'KEDA reads the backlog' },

  ...['dispatcher', 'dispatcher-migrate'].flatMap((from) => [
    { from, to: 'postgres', ports: [5432], why: 'the ledger' },
    { from, to: 'elsewhere', ports: [5432], unless: ['postgres'], why: 'the ledger is outside' },
  ]),
  // The pods that CloudNativePG makes of a Cluster.
  {
    from: 'postgres',
    to: 'postgres',
    ports: [5432, 8000],
    ifThere: 'Cluster',
    why: 'replicas follow and ask each other',
  },
  {
    from: 'cnpg',
    to: 'postgres',
    ports: [5432, 8000],
    ifThere: 'Cluster',
    why: 'the operator asks each server how it is',
  },
  {
    from: 'postgres',
    to: 'elsewhere',
    ports: [443, 6443],
    ifThere: 'Cluster',
    why: 'it asks the API server for its role',
  },
  {
    from: 'postgres',
    to: 'dns',
    ports: [53],
    protocols: ['UDP', 'TCP'],
    ifThere: 'Cluster',
    why: 'replicas have names',
  },

  ...['gateway', 'teacher-svc', 'trainer'].flatMap((from) => [
    ...['vllm-policy', 'engine'].map((to) => ({ from, to, ports: [8000], why: 'answers, scores, adapters' })),
    { from, to: 'elsewhere', ports: [443, 8000], unless: ['vllm-policy', 'engine'], why: 'the engine is outside' },
  ]),
  { from: 'judge-svc', to: 'vllm-judge', ports: [8000], why: 'votes' },
  { from: 'judge-svc', to: 'demo-judge', ports: [8001], why: 'votes' },
  {
    from: 'judge-svc',
    to: 'elsewhere',
    ports: [443],
    unless: ['vllm-judge', 'demo-judge'],
    why: 'the judge is outside',
  },

  ...Object.entries({
    gateway: 8080,
    'judge-svc': 8081,
    'teacher-svc': 8082,
    dispatcher: 8083,
    trainer: 8084,
    engine: 8000,
    'vllm-policy': 8000,
    'vllm-judge': 8000,
    'demo-judge': 8001,
  }).map(([to, port]) => ({
    from: 'monitoring',
    to,
    ports: [port],
    why: 'metrics are scraped',
  })),

  ...['gateway', 'judge-svc', 'teacher-svc', 'dispatcher', 'trainer'].map((from) => ({
    from,
    to: 'collector',
    ports: [4318],
    ifNamed: 'to-collector',
    why: 'traces',
  })),

  { from: 'load-model', to: 'elsewhere', ports: [443], why: 'a model is fetched' },

  ...['gateway', 'judge-svc', 'teacher-svc', 'dispatcher', 'dispatcher-migrate', 'trainer', 'nats', 'load-model'].map(
    (from) => ({
      from,
      to: 'dns',
      ports: [53],
      protocols: ['UDP', 'TCP'],
      why: 'it calls others by name',
    }),
  ),
];

const pod = (namespace, labels = {}, namespaceLabels = {}) => ({
  namespace,
  namespaceLabels: { 'kubernetes.io/metadata.name': namespace, ...namespaceLabels },
  labels,
  ports: [],
});

/**
 * What is not in an overlay: pods of other namespaces, and addresses. An arrow to several of one name needs one of them; an arrow that is
 * not wanted may reach none.
 */
export const outside = {
  agents: [pod('agents', {}, { 'hindcast/gateway-client': 'true' })],
  cnpg: [pod('cnpg-system', { 'app.kubernetes.io/name': 'cloudnative-pg' })],
  collector: [pod('monitoring', { 'app.kubernetes.io/name': 'opentelemetry-collector' })],
  dns: [pod('kube-system', { 'k8s-app': 'kube-dns' })],
  keda: [pod('keda', { app: 'keda-operator', 'app.kubernetes.io/name': 'keda-operator' })],
  monitoring: [pod('monitoring', { 'app.kubernetes.io/name': 'prometheus' })],
  elsewhere: [{ address: '203.0.113.10' }, { address: '10.20.30.40' }],
  // The credentials of a cloud's machine.
  'the metadata service': [{ address: '169.254.169.254' }],
  'a stranger': [pod('somewhere')],
};
