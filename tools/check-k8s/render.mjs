// Overlays as objects.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { YAML11_SCHEMA, load, loadAll } from 'js-yaml';

export const REMEDY =
  'kubectl is not on the PATH; install kubectl 1.29 or newer (https://kubernetes.io/docs/tasks/tools/), which has kustomize built in';

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

/** The components that no overlay has, directly or through another one: without more, nothing would check them. */
export function unusedComponents(root) {
  const named = (folder) => {
    const file = join(folder, 'kustomization.yaml');
    if (!existsSync(file)) return [];
    const { components = [] } = load(readFileSync(file, 'utf8')) ?? {};
    return components.flatMap((path) => [basename(path), ...named(join(folder, path))]);
  };
  const used = new Set(overlayNames(root).flatMap((name) => named(join(root, 'k8s/overlays', name))));
  const folder = join(root, 'k8s/components');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => !used.has(name) && existsSync(join(folder, name, 'kustomization.yaml')));
}

/** Files with objects that are applied by hand, beside an overlay. */
export function looseFiles(root) {
  return readdirSync(join(root, 'k8s')).filter((name) => name.endsWith('.yaml') && !name.endsWith('.example.yaml'));
}

/** An overlay's objects, and those of one such file in the overlay's namespace. */
export function renderBeside(root, overlay, file) {
  const objects = render(join(root, 'k8s/overlays', overlay));
  const namespace = objects.find(({ kind }) => kind === 'Namespace')?.metadata.name;
  const loose = objectsIn(readFileSync(join(root, 'k8s', file), 'utf8'));
  return [...objects, ...loose.map((object) => ({ ...object, metadata: { namespace, ...object.metadata } }))];
}

/** An overlay with one more component. */
export function renderWith(root, overlay, component) {
  const folder = mkdtempSync(join(tmpdir(), 'hindcast-overlay-'));
  try {
    // kustomize takes relative paths only, from where the folder really is.
    const path = (name) => relative(realpathSync(folder), join(realpathSync(root), 'k8s', name));
    const kustomization = {
      // As the overlays have it: what the component brings belongs there, too.
      namespace: 'hindcast',
      resources: [path(`overlays/${overlay}`)],
      components: [path(`components/${component}`)],
    };
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
    return render(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
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
