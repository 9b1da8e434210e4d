// Where services write and what they share.
import { environmentOf } from '../environment.mjs';
import { ofKind, workloadsOf } from '../objects.mjs';

/** With a read-only root, what is written needs a volume. */
export function writable(objects, context) {
  return workloadsOf(objects).flatMap((workload) =>
    workload.containers.flatMap((container) => {
      if (!context.serviceOf(container)) return [];
      const { values } = environmentOf(container, workload, objects, context);
      return [values.DATA_DIR, '/tmp']
        .filter((path) => path !== undefined && !isWritable(path, container))
        .map((path) => ({
          object: `${workload.id} container ${container.name}`,
          message: `writes to ${path}; mount a writable volume there`,
        }));
    }),
  );
}

const isWritable = (path, { volumeMounts = [] }) =>
  volumeMounts.some(
    ({ mountPath, readOnly }) =>
      !readOnly && (path === mountPath || path.startsWith(`${mountPath.replace(/\/$/, '')}/`)),
  );

/** A claim that several pods mount, on nodes of their own, must allow it. */
export function sharedClaims(objects, { overlay }) {
  if (overlay.isOneNode) return [];
  return ofKind(objects, 'PersistentVolumeClaim').flatMap((claim) => {
    const users = workloadsOf(objects).filter(
      ({ namespace, pod }) =>
        namespace === (claim.metadata.namespace ?? 'default') &&
        (pod.volumes ?? []).some(
          ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === claim.metadata.name,
        ),
    );
    const modes = claim.spec?.accessModes ?? [];
    if (users.length < 2 || modes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany')) return [];
    const names = users.map(({ id }) => id).join(' and ');
    return [
      {
        object: `PersistentVolumeClaim/${claim.metadata.name}`,
        message: `${names} mount it; set accessModes: [ReadWriteMany]`,
      },
    ];
  });
}

/** The trainer names a version by its path, which the engine opens. */
export function policyFolder(objects, context) {
  const mountOf = (workload, path) => {
    for (const { volumeMounts = [] } of workload.containers)
      for (const { name, mountPath } of volumeMounts)
        if (path === mountPath || path.startsWith(`${mountPath}/`))
          return {
            mountPath,
            claim: workload.pod.volumes?.find((volume) => volume.name === name)?.persistentVolumeClaim?.claimName,
          };
    return undefined;
  };
  const workloads = workloadsOf(objects);
  return workloads
    .filter(({ app }) => app === 'trainer')
    .flatMap((trainer) => {
      const container = trainer.containers.find(({ isInit }) => !isInit);
      const path = environmentOf(container ?? {}, trainer, objects, context).values.POLICY_DIR;
      if (!path) return [];
      const own = mountOf(trainer, path);
      if (!own?.claim)
        return [{ object: trainer.id, message: `POLICY_DIR ${path} is on no PersistentVolumeClaim; mount one` }];
      return workloads
        .filter(({ app }) => app === 'vllm-policy' || app === 'engine')
        .filter((engine) => {
          const mounted = mountOf(engine, path);
          return mounted?.claim !== own.claim || mounted.mountPath !== own.mountPath;
        })
        .map((engine) => ({
          object: engine.id,
          message: `must see the trainer's ${path}: mount PersistentVolumeClaim/${own.claim} at ${own.mountPath}`,
        }));
    });
}

/** A stream cannot have more copies than there are servers, and should have as many as keep it when one is lost. */
export function streamReplicas(objects, context) {
  const servers = workloadsOf(objects).find(({ app, object }) => app === 'nats' && object.kind === 'StatefulSet');
  if (!servers) return [];
  const possible = (servers.object.spec?.replicas ?? 1) >= 3 ? 3 : 1;
  return workloadsOf(objects).flatMap((workload) =>
    workload.containers.flatMap((container) => {
      const service = context.serviceOf(container);
      if (!service?.variables.has('NATS_REPLICAS') || ['engine', 'demo-judge'].includes(service.app)) return [];
      const given = Number(environmentOf(container, workload, objects, context).values.NATS_REPLICAS ?? 1);
      return given === possible
        ? []
        : [
            {
              object: `${workload.id} container ${container.name}`,
              message: `NATS_REPLICAS is ${given} beside ${servers.object.spec?.replicas ?? 1} NATS servers; set it to ${possible}`,
            },
          ];
    }),
  );
}
