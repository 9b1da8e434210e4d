// What NetworkPolicies allow: pure, as the API's documentation defines it (policies only add; a pod that none selects is open).
import { isEmptySelector, matches, namespaceOf } from './objects.mjs';

/**
 * Whether the policies of one end allow a connection. `self` is the pod at this end, `peer` the other end, a pod or an address:
 * `{ namespace, namespaceLabels, labels, ports: [{ name, containerPort, protocol }] }` or `{ address: 'IPv4' }`.
 *
 * @param direction 'Egress' (self → peer) or 'Ingress' (peer → self)
 */
export function allows(policies, direction, self, peer, port) {
  const own = policiesOf(policies, direction, self);
  if (own.length === 0) return true;
  const target = direction === 'Egress' ? peer : self;
  return own.some((policy) =>
    (direction === 'Egress' ? (policy.spec.egress ?? []) : (policy.spec.ingress ?? [])).some((rule) => {
      const peers = (direction === 'Egress' ? rule.to : rule.from) ?? [];
      return (
        (peers.length === 0 || peers.some((entry) => isPeer(entry, peer, namespaceOf(policy)))) &&
        ((rule.ports ?? []).length === 0 || rule.ports.some((entry) => isPort(entry, port, target)))
      );
    }),
  );
}

/** The policies that isolate a pod in a direction; none: it is open. */
export function policiesOf(policies, direction, { namespace, labels }) {
  return policies.filter((policy) => {
    const { podSelector, policyTypes = policy.spec.egress ? ['Ingress', 'Egress'] : ['Ingress'] } = policy.spec;
    return namespaceOf(policy) === namespace && policyTypes.includes(direction) && matches(podSelector, labels);
  });
}

function isPeer({ ipBlock, podSelector, namespaceSelector }, peer, namespace) {
  if (ipBlock)
    return (
      peer.address !== undefined &&
      isIn(peer.address, ipBlock.cidr) &&
      !(ipBlock.except ?? []).some((cidr) => isIn(peer.address, cidr))
    );
  if (peer.address !== undefined) return false;
  const isNamespace = namespaceSelector
    ? isEmptySelector(namespaceSelector) || matches(namespaceSelector, peer.namespaceLabels)
    : peer.namespace === namespace;
  return isNamespace && (podSelector === undefined || matches(podSelector, peer.labels));
}

function isPort({ port: wanted, endPort, protocol = 'TCP' }, { port, protocol: given }, target) {
  if (protocol !== given) return false;
  if (wanted === undefined) return true;
  if (typeof wanted === 'number') return endPort === undefined ? wanted === port : wanted <= port && port <= endPort;
  return (target.ports ?? []).some(({ name, containerPort }) => name === wanted && containerPort === port);
}

/** IPv4 only; an IPv6 block holds no IPv4 address. */
function isIn(address, cidr) {
  const [base, length = '32'] = cidr.split('/');
  if (base.includes(':')) return false;
  const mask = 2 ** (32 - Number(length));
  return Math.floor(numberOf(address) / mask) === Math.floor(numberOf(base) / mask);
}

const numberOf = (address) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
