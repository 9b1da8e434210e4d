// Overlays as objects.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { YAML11_SCHEMA, loadAll } from 'js-yaml';

export const REMEDY =
  'kubectl is not on the PATH; install kubectl 1.27 or newer (https://kubernetes.io/docs/tasks/tools/), which has kustomize built in';

/** Whether there is a kubectl that can render. */
export function hasKubectl() {
  const { error, status } = spawnSync('kubectl', ['kustomize', '--help'], { stdio: 'ignore' });
  return !error && status === 0;
}

export function overlayNames(root) {
  return readdirSync(join(root, 'k8s/overlays'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

/** @throws Error with what kustomize said */
export function render(folder) {
  const { status, stdout, stderr, error } = spawnSync('kubectl', ['kustomize', folder], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error?.code === 'ENOENT') throw new Error(REMEDY);
  if (error || status !== 0) throw new Error(error?.message ?? stderr.trim());
  return objectsIn(stdout);
}

/** Read as an API server's client does: YAML 1.1, where `yes` is a truth and `0440` is octal. */
export function objectsIn(text) {
  return loadAll(text, { schema: YAML11_SCHEMA })
    .flatMap((document) => (document?.kind === 'List' ? document.items : [document]))
    .filter((object) => object !== null && object !== undefined);
}
