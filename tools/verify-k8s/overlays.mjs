import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { objectsIn } from '../check-k8s/render.mjs';
import { podsOf } from './core/pods.mjs';
import { until } from './kubectl.mjs';

const ADMISSION_MS = 60_000;

/** Names of the overlays in `k8s`. */
export const overlayNames = (k8s) =>
  readdirSync(join(k8s, 'overlays'))
    .filter((name) => existsSync(join(k8s, 'overlays', name, 'kustomization.yaml')))
    .sort();

/** A rendered overlay: its text, its objects, the namespace that they live in. */
export async function renderOverlay(kubectl, folder) {
  const text = await kubectl.render(folder);
  const objects = objectsIn(text);
  const namespace = objects.find(({ metadata }) => metadata.namespace !== undefined)?.metadata.namespace ?? 'default';
  return { text, objects, namespace };
}

/** An overlay with patches of our own on top, as kustomize makes it. @param patches a merge patch each, with `kind` and name of its object */
export function writePatched(folder, base, patches) {
  mkdirSync(folder, { recursive: true });
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [relative(folder, base)],
    patches: patches.map((patch) => ({ patch: JSON.stringify(patch) })),
  };
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization, null, 2));
  return folder;
}

/** Applies what was rendered, into a namespace that is made first where the overlay brings none. */
export async function applyOverlay(kubectl, { text, objects, namespace }) {
  if (!objects.some(({ kind, metadata }) => kind === 'Namespace' && metadata.name === namespace))
    await kubectl.run(['create', 'namespace', namespace]);
  return kubectl.apply(text);
}

/** Deletes an overlay with its namespace and waits until all of it is gone. */
export async function deleteOverlay(kubectl, { text, namespace }) {
  await kubectl.run(['delete', '--ignore-not-found', '--wait=false', '-f', '-'], text);
  await kubectl.run(['delete', 'namespace', namespace, '--ignore-not-found', '--wait=true', '--timeout=300s']);
}

/** Waits until each of the templates has a pod, or one is refused. @returns the pods, and why others are missing */
export async function admittedPods(kubectl, namespace, templates) {
  let pods = [];
  const lacking = () => templates.filter((template) => podsOf(pods, template).length === 0);
  const refused = await until(async () => {
    pods = await kubectl.list('pods', namespace);
    if (lacking().length === 0) return [];
    const events = await kubectl.list('events', namespace, '--field-selector', 'reason=FailedCreate');
    return events.length > 0 ? [...new Set(events.map(({ message }) => withoutPodName(message)))] : null;
  }, ADMISSION_MS);
  return { pods, refused: refused ?? lacking().map(({ name }) => `${name} has no pod after ${ADMISSION_MS / 1000} s`) };
}

/** A controller tries again and again, each time with a pod of another name. */
const withoutPodName = (message) => message.split('\n')[0].replace(/pods "[^"]*-[a-z0-9]{5}" is/, 'a pod is');
