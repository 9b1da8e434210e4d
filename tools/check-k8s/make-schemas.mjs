// Makes k8s/schemas/*.json, the pinned schemas of every kind that the manifests may use, from the files that the projects themselves
// publish in their Go modules. Needs Go and its module proxy; needed again only to move to another version, or to allow another kind.
// `node tools/check-k8s/make-schemas.mjs`
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { enumsOf } from './go-enums.mjs';
import { closed, closedCustom, reachable } from './reduce-schema.mjs';

const folder = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'k8s/schemas');

const KUBERNETES = {
  file: 'kubernetes.json',
  module: 'k8s.io/kubernetes',
  version: 'v1.32.4',
  path: 'api/openapi-spec/swagger.json',
  /** The values of enumerations stand in the Go types only. */
  types: { module: 'k8s.io/api', version: 'v0.32.4' },
  kinds: {
    v1: [
      'Namespace',
      'ConfigMap',
      'Secret',
      'Service',
      'ServiceAccount',
      'PersistentVolumeClaim',
      'PersistentVolume',
      'Pod',
      'LimitRange',
      'ResourceQuota',
    ],
    'apps/v1': ['Deployment', 'StatefulSet', 'DaemonSet'],
    'batch/v1': ['Job', 'CronJob'],
    'autoscaling/v2': ['HorizontalPodAutoscaler'],
    'policy/v1': ['PodDisruptionBudget'],
    'networking.k8s.io/v1': ['NetworkPolicy', 'Ingress'],
    'scheduling.k8s.io/v1': ['PriorityClass'],
    'storage.k8s.io/v1': ['StorageClass'],
    'rbac.authorization.k8s.io/v1': ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'],
  },
};

const CUSTOM = [
  {
    file: 'keda.json',
    module: 'github.com/kedacore/keda/v2',
    version: 'v2.16.1',
    paths: ['scaledobjects', 'triggerauthentications', 'clustertriggerauthentications'].map(
      (plural) => `config/crd/bases/keda.sh_${plural}.yaml`,
    ),
  },
  {
    file: 'monitoring.json',
    module: 'github.com/prometheus-operator/prometheus-operator',
    version: 'v0.80.1',
    paths: ['servicemonitors', 'podmonitors', 'prometheusrules'].map(
      (plural) => `example/prometheus-operator-crd/monitoring.coreos.com_${plural}.yaml`,
    ),
  },
  {
    file: 'cnpg.json',
    module: 'github.com/cloudnative-pg/cloudnative-pg',
    version: 'v1.25.1',
    paths: ['clusters', 'scheduledbackups', 'backups'].map(
      (plural) => `config/crd/bases/postgresql.cnpg.io_${plural}.yaml`,
    ),
  },
  {
    file: 'cert-manager.json',
    module: 'github.com/cert-manager/cert-manager',
    version: 'v1.17.2',
    paths: ['certificates', 'issuers', 'clusterissuers'].map((plural) => `deploy/crds/crd-${plural}.yaml`),
  },
];

write(KUBERNETES, kubernetesSchemas());
for (const source of CUSTOM) write(source, customSchemas(source));

function kubernetesSchemas() {
  const { definitions } = JSON.parse(readFileSync(join(moduleFolder(KUBERNETES), KUBERNETES.path), 'utf8'));
  const enums = enumsOf(moduleFolder(KUBERNETES.types));
  const kinds = {};
  for (const [name, definition] of Object.entries(definitions))
    for (const { group, version, kind } of definition['x-kubernetes-group-version-kind'] ?? []) {
      const apiVersion = group === '' ? version : `${group}/${version}`;
      if (KUBERNETES.kinds[apiVersion]?.includes(kind)) kinds[`${apiVersion}/${kind}`] = name;
    }
  for (const [apiVersion, names] of Object.entries(KUBERNETES.kinds))
    for (const kind of names)
      if (!kinds[`${apiVersion}/${kind}`]) throw new Error(`${KUBERNETES.path} has no ${apiVersion}/${kind}`);
  const roots = Object.values(kinds);
  const reduced = {};
  for (const name of reachable(definitions, roots))
    reduced[name] = closed(definitions[name], { name, enums, isRoot: roots.includes(name) });
  return { kinds, definitions: reduced };
}

function customSchemas(source) {
  const kinds = {};
  const definitions = {};
  for (const path of source.paths) {
    const { spec } = load(readFileSync(join(moduleFolder(source), path), 'utf8'));
    for (const { name: version, schema } of spec.versions.filter(({ served }) => served)) {
      const key = `${spec.group}/${version}/${spec.names.kind}`;
      kinds[key] = key;
      definitions[key] = closedCustom(schema.openAPIV3Schema, KUBERNETES.file);
    }
  }
  return { kinds, definitions };
}

/** Folder of a module in Go's cache; fetched where it is not there yet. */
function moduleFolder({ module, version }) {
  const { status, stdout, stderr, error } = spawnSync('go', ['mod', 'download', '-json', `${module}@${version}`], {
    encoding: 'utf8',
  });
  if (error || status !== 0) throw new Error(`${module}@${version}: ${error?.message ?? `${stderr}${stdout}`}`);
  return JSON.parse(stdout).Dir;
}

/** One definition a line, sorted, so that a new version shows as a diff that can be read. */
function write({ file, module, version, path, paths, types }, { kinds, definitions }) {
  const sorted = (record) => Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = (record) =>
    sorted(record)
      .map(([key, value]) => `    ${JSON.stringify(key)}: ${JSON.stringify(value)}`)
      .join(',\n');
  const source = { module, version, paths: paths ?? [path], ...(types && { enums: types }), licence: 'Apache-2.0' };
  const pointers = Object.fromEntries(
    Object.entries(kinds).map(([kind, name]) => [kind, `${file}#/definitions/${escaped(name)}`]),
  );
  writeFileSync(
    join(folder, file),
    `{\n  "$id": ${JSON.stringify(file)},\n  "source": ${JSON.stringify(source)},\n  "kinds": {\n${lines(pointers)}\n  },\n  "definitions": {\n${lines(definitions)}\n  }\n}\n`,
  );
  console.log(`${file}: ${Object.keys(kinds).length} kinds, ${Object.keys(definitions).length} definitions`);
}

function escaped(name) {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
