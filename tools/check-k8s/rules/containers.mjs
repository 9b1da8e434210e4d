// What every container and every pod must say of itself.
import { appOfImage, idOf, isJob, ofKind, workloadsOf } from '../objects.mjs';

/** Problems of each container: `find(container, workload, context)` gives messages. */
const ofContainers = (find) => (objects, context) =>
  workloadsOf(objects).flatMap((workload) =>
    workload.containers.flatMap((container) =>
      find(container, workload, context).map((message) => ({
        object: `${workload.id} container ${container.name}`,
        message,
      })),
    ),
  );

const ofPods = (find) => (objects) =>
  workloadsOf(objects).flatMap((workload) => find(workload).map((message) => ({ object: workload.id, message })));

const unsized = ({ requests = {}, limits = {} } = {}) => [
  ...['cpu', 'memory'].filter((name) => !(name in requests)).map((name) => `set resources.requests.${name}`),
  ...['cpu', 'memory'].filter((name) => !(name in limits)).map((name) => `set resources.limits.${name}`),
];

const containerResources = ofContainers((container) => unsized(container.resources));

/** Of every container, and of the pods that CloudNativePG makes. */
export const resources = (objects, context) => [
  ...containerResources(objects, context),
  ...ofKind(objects, 'Cluster').flatMap((cluster) =>
    unsized(cluster.spec?.resources).map((message) => ({ object: idOf(cluster), message })),
  ),
];

export const probes = ofContainers(({ isInit, ...container }, workload) =>
  isInit || isJob(workload)
    ? []
    : ['livenessProbe', 'readinessProbe'].filter((probe) => !container[probe]).map((probe) => `add a ${probe}`),
);

export const nonRoot = ofContainers(({ securityContext = {} }, { pod }) => {
  const effective = { ...pod.securityContext, ...securityContext };
  return [
    ...(effective.runAsNonRoot === true ? [] : ['set securityContext.runAsNonRoot: true']),
    ...(effective.runAsUser === 0 ? ['runs as user 0; give another runAsUser'] : []),
  ];
});

export const readOnlyRoot = ofContainers(({ securityContext }) =>
  securityContext?.readOnlyRootFilesystem === true
    ? []
    : ['set securityContext.readOnlyRootFilesystem: true and mount a volume where it writes'],
);

export const capabilities = ofContainers(({ securityContext = {} }) => [
  ...(securityContext.capabilities?.drop?.includes('ALL') ? [] : ['set securityContext.capabilities.drop: [ALL]']),
  ...((securityContext.capabilities?.add ?? []).length > 0 ? ['adds capabilities; delete capabilities.add'] : []),
  ...(securityContext.allowPrivilegeEscalation === false
    ? []
    : ['set securityContext.allowPrivilegeEscalation: false']),
  ...(securityContext.privileged ? ['is privileged; delete securityContext.privileged'] : []),
]);

export const seccomp = ofContainers(({ securityContext }, { pod }) => {
  const profile = securityContext?.seccompProfile ?? pod.securityContext?.seccompProfile;
  return profile?.type === 'RuntimeDefault' || profile?.type === 'Localhost'
    ? []
    : ['set securityContext.seccompProfile.type: RuntimeDefault'];
});

export const token = ofPods(({ pod }) =>
  pod.automountServiceAccountToken === false ? [] : ['set automountServiceAccountToken: false in the pod'],
);

export const host = ofPods(({ pod }) => [
  ...['hostNetwork', 'hostPID', 'hostIPC'].filter((key) => pod[key]).map((key) => `shares the node: delete ${key}`),
  ...(pod.volumes ?? [])
    .filter((volume) => volume.hostPath)
    .map(({ name }) => `volume ${name} is a folder of the node; use a PersistentVolumeClaim or an emptyDir`),
  ...(pod.containers ?? [])
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort }) => hostPort)
    .map(({ hostPort }) => `takes port ${hostPort} of the node; delete hostPort`),
]);

export const images = ofContainers(({ image = '' }, _workload, { services }) => {
  const app = appOfImage(image);
  const problems =
    app && !services.has(app) ? [`image ${image} holds no app of this repository; correct its name`] : [];
  const [name, digest] = image.split('@');
  if (digest) return problems;
  const tag = /:([^/]+)$/.exec(name)?.[1];
  if (!tag) problems.push(`image ${image || '(none)'} has no tag; name a version`);
  if (tag === 'latest') problems.push(`image ${image} changes under its name; name a version`);
  return problems;
});
