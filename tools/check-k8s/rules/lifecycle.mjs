// One trainer and never two; and time to end for everything that holds work.
import { ofKind, workloadsOf } from '../objects.mjs';
import { environmentOf } from '../environment.mjs';

export function trainer(objects) {
  return workloadsOf(objects)
    .filter(({ app }) => app === 'trainer')
    .flatMap(({ id, object }) => {
      const problems = [];
      if (object.kind !== 'Deployment') problems.push('must be a Deployment');
      if (object.spec?.replicas !== 1) problems.push('set replicas: 1, as two trainers would train two policies');
      if (object.spec?.strategy?.type !== 'Recreate')
        problems.push('set strategy.type: Recreate, as a rolling update runs two at once');
      for (const scaler of ofKind(objects, 'HorizontalPodAutoscaler', 'ScaledObject'))
        if (scaler.spec?.scaleTargetRef?.name === object.metadata.name)
          problems.push(`is scaled by ${scaler.kind}/${scaler.metadata.name}; delete that`);
      return problems.map((message) => ({ object: id, message }));
    });
}

/** What answers clients or keeps what was stored. */
const SERVE = ['gateway', 'dispatcher', 'nats', 'postgres', 'vllm-policy', 'engine'];

/** What a service may take to write down and close after its requests have ended, seconds (docs/shutdown.md). */
const CLOSING = 15;

/** A pod is killed when its grace ends, whatever it still does. */
export function grace(objects, context) {
  return workloadsOf(objects).flatMap((workload) => {
    const given = workload.pod.terminationGracePeriodSeconds ?? 30;
    return workload.containers.flatMap((container) => {
      const service = context.serviceOf(container, workload);
      if (!service) return [];
      const { values } = environmentOf(container, workload, objects, context);
      const parsed = service.parse(values).config ?? {};
      const needed = (parsed.SHUTDOWN_SECONDS ?? 0) + (parsed.SHUTDOWN_DELAY_SECONDS ?? 0) + CLOSING;
      if (given >= needed) return [];
      const message = `is killed after ${given} s and may need ${needed} s to end (SHUTDOWN_SECONDS + SHUTDOWN_DELAY_SECONDS + ${CLOSING}); raise terminationGracePeriodSeconds`;
      return [{ object: workload.id, message }];
    });
  });
}

/** Who scales a Deployment says how many replicas it has; a manifest that says so too resets it whenever it is applied. */
export function replicas(objects) {
  const scalers = ofKind(objects, 'HorizontalPodAutoscaler', 'ScaledObject');
  return workloadsOf(objects).flatMap(({ id, object }) => {
    const own = scalers.filter(
      ({ spec }) =>
        spec?.scaleTargetRef?.name === object.metadata?.name &&
        (spec.scaleTargetRef.kind ?? 'Deployment') === object.kind,
    );
    const names = own.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    return [
      ...(own.length > 1 ? [{ object: id, message: `is scaled by ${names.join(' and ')}; keep one` }] : []),
      ...(own.length > 0 && object.spec?.replicas !== undefined
        ? [{ object: id, message: `sets replicas, which ${names[0]} decides; delete it` }]
        : []),
    ];
  });
}

/** Where a node is short of room, training gives way. */
export function priorities(objects) {
  const workloads = workloadsOf(objects);
  const valueOf = ({ pod }) =>
    ofKind(objects, 'PriorityClass').find(({ metadata }) => metadata.name === pod.priorityClassName)?.value ?? 0;
  const trainers = workloads.filter(({ app }) => app === 'trainer');
  return workloads
    .filter(({ app }) => SERVE.includes(app))
    .filter((workload) => trainers.some((trainer) => valueOf(workload) <= valueOf(trainer)))
    .map((workload) => ({
      object: workload.id,
      message: 'does not outrank the trainer; give it a priorityClassName of a higher value',
    }));
}
