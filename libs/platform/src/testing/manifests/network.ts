import { NAME, NAMESPACE, type Manifest } from './parts';

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
  return {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } },
    podSelector: { matchLabels: { 'app.kubernetes.io/name': 'prometheus' } },
  };
}

export const networkPolicy = (name: string, spec: Manifest): Manifest => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name, namespace: NAMESPACE },
  spec: { policyTypes: ['Ingress', 'Egress'], ...spec },
});

export function policyOf(app: string): Manifest {
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
