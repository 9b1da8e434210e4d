/** Replicas that a ScaledObject asks for at a lag of `messages`. */
export function replicasAt(messages, { minReplicaCount = 0, maxReplicaCount = 100, idleReplicaCount, triggers }) {
  const { lagThreshold = '10', activationLagThreshold = '0' } = triggers[0].metadata;
  if (messages <= Number(activationLagThreshold)) return idleReplicaCount ?? minReplicaCount;
  // An autoscaler never goes below one; only KEDA itself scales to zero.
  const wanted = Math.ceil(messages / Number(lagThreshold));
  return Math.min(maxReplicaCount, Math.max(minReplicaCount, 1, wanted));
}

/** `maxUnavailable` of a Deployment, in pods. @param strategy its `spec.strategy` */
export function maxUnavailableOf(strategy, replicas) {
  if (strategy?.type === 'Recreate') return replicas;
  const value = strategy?.rollingUpdate?.maxUnavailable ?? '25%';
  return typeof value === 'number' ? value : Math.floor((Number.parseInt(value, 10) / 100) * replicas);
}

/**
 * What a rolling update did, by the changes of its Deployment's status.
 *
 * @param samples in order, from before the change on
 * @param allowed available pods that must remain
 */
export function rolloutVerdict(samples, allowed) {
  const lowest = Math.min(...samples.map(({ available }) => available));
  const last = samples.at(-1);
  const isDone =
    last !== undefined &&
    last.observed === last.generation &&
    last.updated === last.wanted &&
    last.replicas === last.wanted &&
    last.available === last.wanted;
  return { lowest, isDone, holds: isDone && lowest >= allowed };
}

/** A series without its repetitions: `2→4→8`. */
export const path = (values) => values.filter((value, index) => value !== values[index - 1]).join('→');
