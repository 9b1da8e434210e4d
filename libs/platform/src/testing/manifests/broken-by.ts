import type { Manifest } from './parts';

/** One fault put into the good manifests, the one rule that must find it, the object and a part of what it says. */
export interface BrokenManifests {
  readonly why: string;
  readonly rule: string;
  readonly object: string;
  readonly says: string;
  readonly change: (objects: Manifest[]) => void;
  /** Rules that the same fault must break too. */
  readonly also?: readonly string[];
  /** As which overlay; default `production`. */
  readonly overlay?: string;
}

export const find = (objects: Manifest[], kind: string, name: string): Manifest => {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (!found) throw new Error(`the good manifests have no ${kind}/${name}`);
  return found;
};
export const makers = ['Deployment', 'StatefulSet', 'Job'];
export const maker = (objects: Manifest[], name: string): Manifest =>
  objects.find(({ kind, metadata }) => makers.includes(kind) && metadata.name === name);
export const pod = (objects: Manifest[], name: string): Manifest => maker(objects, name).spec.template.spec;
export const container = (objects: Manifest[], name: string): Manifest => pod(objects, name).containers[0];
export const variables = (objects: Manifest[], name: string): Manifest => find(objects, 'ConfigMap', name).data;
export const policy = (objects: Manifest[], name: string): Manifest => find(objects, 'NetworkPolicy', name).spec;
export const trigger = (objects: Manifest[]): Manifest =>
  find(objects, 'ScaledObject', 'judge-svc').spec.triggers[0].metadata;
export const drop = (objects: Manifest[], kind: string, name: string): void =>
  void objects.splice(objects.indexOf(find(objects, kind, name)), 1);

/** `[change, message]` of the container of gateway. */
export const ofContainer = (
  rule: string,
  ...twins: readonly (readonly [why: string, change: (container: Manifest) => void, says: string])[]
): BrokenManifests[] =>
  twins.map(([why, change, says]) => ({
    why,
    rule,
    object: 'Deployment/gateway container gateway',
    says,
    change: (objects) => change(container(objects, 'gateway')),
  }));

export const ofPod = (
  rule: string,
  name: string,
  ...twins: readonly (readonly [why: string, change: (pod: Manifest) => void, says: string])[]
): BrokenManifests[] =>
  twins.map(([why, change, says]) => ({
    why,
    rule,
    object: `/${name}`,
    says,
    change: (objects) => change(pod(objects, name)),
  }));
