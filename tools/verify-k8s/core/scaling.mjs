/** Replicas that a ScaledObject asks for at a lag of `messages`. */
export function replicasAt(messages, { minReplicaCount = 0, maxReplicaCount = 100, idleReplicaCount, triggers }) {
  const { lagThreshold = '10', activationLagThreshold = '0' } = triggers[0].metadata;
  if (messages <= Number(activationLagThreshold)) return idleReplicaCount ?? minReplicaCount;
  // An autoscaler never goes below one; only KEDA itself scales to zero.
  const wanted = Math.ceil(messages / Number(lagThreshold));
  return Math.min(maxReplicaCount, Math.max(minReplicaCount, 1, wanted));
}

/**
 * What a rolling update did, by the changes of its Deployment's status, in order and from before the update on.
 * It holds when it is done and there were never fewer pods available than at first.
 */
export function rolloutVerdict(samples) {
  const lowest = Math.min(...samples.map(({ available }) => available));
  const last = samples.at(-1);
  const isDone =
    last !== undefined &&
    last.observed === last.generation &&
    last.updated === last.wanted &&
    last.replicas === last.wanted &&
    last.available === last.wanted;
  return { lowest, isDone, holds: isDone && lowest >= samples[0].available };
}

/** A series without its repetitions: `2→4→8`. */
export const path = (values) => values.filter((value, index) => value !== values[index - 1]).join('→');
