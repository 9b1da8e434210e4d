// NetworkPolicies open exactly the arrows of ../arrows.mjs.
import { arrows as wantedArrows, outside } from '../arrows.mjs';
import { idOf, namespaceOf, ofKind, workloadsOf } from '../objects.mjs';
import { allows, policiesOf } from '../reach.mjs';

/** A port that nothing listens on: whoever may reach it may reach everything. */
const ANY_PORT = 65_000;

export function isolation(objects) {
  const policies = ofKind(objects, 'NetworkPolicy');
  return podsOf(objects).flatMap((pod) =>
    ['Ingress', 'Egress']
      .filter((direction) => policiesOf(policies, direction, pod).length === 0)
      .map((direction) => ({
        object: pod.id,
        message: `no NetworkPolicy restricts its ${direction.toLowerCase()}; deny by default`,
      })),
  );
}

export function arrows(objects) {
  const policies = ofKind(objects, 'NetworkPolicy');
  const pods = podsOf(objects);
  const wanted = wantedIn(objects, pods);
  const strangers = Object.entries(outside).map(([app, peers]) => ({
    app,
    // Every user's servers have addresses of their own.
    peers: app === 'elsewhere' ? [...peers, ...addressesNamed(policies)] : peers,
  }));
  const inside = pods.map((pod) => ({ app: pod.app, id: pod.id, peers: [pod], pod }));
  const outsidePorts = portsNamed(policies);

  return [...inside, ...strangers].flatMap((from) =>
    [...inside, ...strangers]
      .filter((to) => from.pod || to.pod)
      .flatMap((to) => {
        const ports = withArrowPorts(to.pod ? portsOfPod(to.pod) : outsidePorts, wanted, to.app);
        return ports.flatMap((port) => arrowProblems(policies, from, to, port, wanted));
      }),
  );
}

function arrowProblems(policies, from, to, port, wanted) {
  const why = wanted(from.app, to.app, port);
  const arrow = `${from.app} → ${to.app}:${port.port === ANY_PORT ? 'every port' : port.port}${port.protocol === 'UDP' ? '/UDP' : ''}`;
  const ends = [
    from.pod && {
      end: 'egress',
      id: from.id,
      isAllowed: to.peers.some((peer) => allows(policies, 'Egress', from.pod, peer, port)),
    },
    to.pod && {
      end: 'ingress',
      id: to.id,
      isAllowed: from.peers.some((peer) => allows(policies, 'Ingress', to.pod, peer, port)),
    },
  ].filter(Boolean);
  if (why)
    return ends
      .filter(({ isAllowed }) => !isAllowed)
      .map(({ end, id }) => ({
        object: id,
        message: `${arrow} is needed (${why}) and its ${end} is not allowed; allow it`,
      }));
  return ends
    .filter(({ isAllowed }) => isAllowed)
    .map(({ end, id }) => ({
      object: id,
      message: `${arrow} is allowed by its ${end} and is no arrow that is wanted; forbid it, or give its reason in tools/check-k8s/arrows.mjs`,
    }));
}

/** `(from, to, port) → why | undefined`, for the arrows that count in this overlay. */
function wantedIn(objects, pods) {
  const apps = new Set(pods.map(({ app }) => app));
  const counting = wantedArrows.filter(
    ({ ifThere, ifNamed, unless = [] }) =>
      (ifThere === undefined || ofKind(objects, ifThere).length > 0) &&
      (ifNamed === undefined || objects.some(({ metadata }) => metadata?.name === ifNamed)) &&
      !unless.some((app) => apps.has(app)),
  );
  const find = (from, to, { port, protocol }) =>
    counting.find(
      (arrow) =>
        arrow.from === from &&
        arrow.to === to &&
        arrow.ports.includes(port) &&
        (arrow.protocols ?? ['TCP']).includes(protocol),
    )?.why;
  return Object.assign(find, { arrows: counting });
}

/** What makes pods, and the pods that CloudNativePG makes of a Cluster. */
function podsOf(objects) {
  const workloads = workloadsOf(objects).map(({ id, app, namespace, labels, containers }) => ({
    id,
    app: app ?? id,
    namespace,
    labels,
    ports: containers.flatMap(({ ports = [] }) => ports),
  }));
  const clusters = ofKind(objects, 'Cluster').map((cluster) => ({
    id: idOf(cluster),
    app: 'postgres',
    namespace: namespaceOf(cluster),
    labels: {
      'cnpg.io/cluster': cluster.metadata.name,
      'cnpg.io/podRole': 'instance',
      ...cluster.spec?.inheritedMetadata?.labels,
    },
    ports: [
      { name: 'postgresql', containerPort: 5432 },
      { name: 'status', containerPort: 8000 },
      { name: 'metrics', containerPort: 9187 },
    ],
  }));
  return [...workloads, ...clusters].map((pod) => ({
    ...pod,
    namespaceLabels: { 'kubernetes.io/metadata.name': pod.namespace },
  }));
}

const portsOfPod = ({ ports }) => [
  ...ports.map(({ containerPort, protocol = 'TCP' }) => ({ port: containerPort, protocol })),
  { port: ANY_PORT, protocol: 'TCP' },
];

function addressesNamed(policies) {
  const peers = policies.flatMap(({ spec }) => spec.egress ?? []).flatMap(({ to = [] }) => to);
  const first = peers.flatMap(({ ipBlock }) => (ipBlock ? [ipBlock.cidr.split('/')[0]] : []));
  return first.filter((address) => /^[\d.]+$/.test(address)).map((address) => ({ address }));
}

/** Beyond the ends of what policies name, nothing changes. */
function portsNamed(policies) {
  const named = policies
    .flatMap(({ spec }) => spec.egress ?? [])
    .flatMap(({ ports = [] }) => ports)
    .flatMap(({ port, endPort, protocol = 'TCP' }) => [port, endPort].map((number) => ({ port: number, protocol })))
    .filter(({ port }) => typeof port === 'number');
  return [...named, { port: ANY_PORT, protocol: 'TCP' }];
}

function withArrowPorts(ports, { arrows: counting }, app) {
  const own = counting
    .filter(({ to }) => to === app)
    .flatMap(({ ports: numbers, protocols = ['TCP'] }) =>
      numbers.flatMap((port) => protocols.map((protocol) => ({ port, protocol }))),
    );
  const all = [...own, ...ports];
  return all.filter(
    ({ port, protocol }, index) =>
      all.findIndex((other) => other.port === port && other.protocol === protocol) === index,
  );
}
