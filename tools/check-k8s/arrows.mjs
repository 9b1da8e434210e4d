// Who may talk to whom: every connection that Hindcast needs in a cluster, with its reason. The rule `arrows` compares it with what the
// rendered NetworkPolicies allow, at both ends, and fails on one too few and one too many.

/**
 * `from` and `to` are pods by their label `app.kubernetes.io/name`, or a name of {@link outside}; `*` is every pod. An arrow counts where
 * both ends are there. `ifThere`: only where the overlay has an object of this kind. `unless`: only where none of these apps is there.
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
    'demo-judge': 8001,
    'vllm-policy': 8000,
    'vllm-judge': 8000,
    nats: 7777,
  }).map(([to, port]) => ({
    from: 'monitoring',
    to,
    ports: [port],
    ifThere: 'ServiceMonitor',
    why: 'metrics are scraped',
  })),

  { from: '*', to: 'dns', ports: [53], protocols: ['UDP', 'TCP'], why: 'names' },
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
  dns: [pod('kube-system', { 'k8s-app': 'kube-dns' })],
  keda: [pod('keda', { app: 'keda-operator', 'app.kubernetes.io/name': 'keda-operator' })],
  monitoring: [pod('monitoring', { 'app.kubernetes.io/name': 'prometheus' })],
  elsewhere: [{ address: '203.0.113.10' }, { address: '10.20.30.40' }],
  // The credentials of a cloud's machine.
  'the metadata service': [{ address: '169.254.169.254' }],
  'a stranger': [pod('somewhere')],
};

/** Of these, every caller is one: an open door is what is wanted. */
export const open = ['agents'];
