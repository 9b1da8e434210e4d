// Builds the control plane from Go modules, once: a stamp beside each binary says of what it was made.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Unavailable, run } from './commands.mjs';

export const VERSIONS = { kubernetes: 'v1.32.13', kwok: 'v0.7.0', keda: 'v2.17.2' };
/** Modules that no binary is built of: their resource definitions are applied. */
const DEFINITIONS = {
  keda: { module: `github.com/kedacore/keda/v2@${VERSIONS.keda}`, folder: 'config/crd/bases' },
  cnpg: { module: 'github.com/cloudnative-pg/cloudnative-pg@v1.25.1', folder: 'config/crd/bases' },
  monitoring: {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    folder: 'example/prometheus-operator-crd',
  },
  'cert-manager': { module: 'github.com/cert-manager/cert-manager@v1.21.2', folder: 'deploy/crds' },
};
const here = dirname(fileURLToPath(import.meta.url));

const kubernetes = (name) => ({
  name,
  goMod: 'kubernetes',
  packageName: `k8s.io/kubernetes/cmd/${name}`,
  // Without a version the server calls itself v0.0.0, and clients take it for one that knows nothing.
  variables: {
    'k8s.io/component-base/version.gitVersion': VERSIONS.kubernetes,
    'k8s.io/component-base/version.gitMajor': '1',
    'k8s.io/component-base/version.gitMinor': '32',
  },
});

/** `goMod`: a folder of modules/; `module`: built inside of the module itself, with its own go.mod. */
const BINARIES = [
  { name: 'etcd', goMod: 'etcd', packageName: 'go.etcd.io/etcd/server/v3', variables: {} },
  kubernetes('kube-apiserver'),
  kubernetes('kube-controller-manager'),
  kubernetes('kube-scheduler'),
  {
    name: 'kwok',
    module: `sigs.k8s.io/kwok@${VERSIONS.kwok}`,
    packageName: './cmd/kwok',
    variables: { 'sigs.k8s.io/kwok/pkg/consts.Version': VERSIONS.kwok },
  },
  ...['operator', 'adapter'].map((command) => ({
    name: `keda-${command}`,
    module: DEFINITIONS.keda.module,
    packageName: `./cmd/${command}`,
    variables: { 'github.com/kedacore/keda/v2/version.Version': VERSIONS.keda.slice(1) },
  })),
];

/** Builds what is missing. @returns the folder with all binaries @throws Unavailable when Go or a module is not to be had */
export async function ensureBinaries(data, say) {
  const folder = join(data, 'bin');
  mkdirSync(folder, { recursive: true });
  const missing = BINARIES.filter((binary) => !isBuilt(folder, binary));
  if (missing.length > 0) checkGo();
  for (const binary of missing) {
    say(`building ${binary.name} (minutes)…`);
    await build(folder, join(data, 'modules'), binary);
  }
  return folder;
}

/** Folders with the resource definitions of KEDA, CloudNativePG, the Prometheus operator and cert-manager, by name. */
export async function definitionFolders() {
  const found = {};
  for (const [name, { module, folder }] of Object.entries(DEFINITIONS))
    found[name] = join(await moduleFolder(module), folder);
  return found;
}

/** Whatever a binary is made of, in one text. */
function recipe({ goMod, module, packageName, variables }) {
  const base = goMod === undefined ? module : readFileSync(join(here, 'modules', goMod, 'go.mod'), 'utf8');
  return JSON.stringify({ base, packageName, variables });
}

function isBuilt(folder, binary) {
  const stamp = join(folder, `${binary.name}.recipe`);
  return existsSync(join(folder, binary.name)) && existsSync(stamp) && readFileSync(stamp, 'utf8') === recipe(binary);
}

async function build(folder, modules, binary) {
  const { name, goMod, module, packageName, variables } = binary;
  const setVariables = Object.entries(variables).map(([variable, value]) => `-X ${variable}=${value}`);
  let cwd;
  if (goMod === undefined) {
    cwd = await moduleFolder(module);
  } else {
    // Go writes what it finds out into go.mod and go.sum: into a copy.
    cwd = join(modules, goMod);
    mkdirSync(cwd, { recursive: true });
    rmSync(join(cwd, 'go.sum'), { force: true });
    writeFileSync(join(cwd, 'go.mod'), readFileSync(join(here, 'modules', goMod, 'go.mod')));
  }
  await run(
    'nice',
    [
      ...['-n', '10', 'go', 'build', '-trimpath', '-buildvcs=false', '-p', '2'],
      goMod === undefined ? '-mod=readonly' : '-mod=mod',
      ...['-ldflags', ['-s -w', ...setVariables].join(' ')],
      ...['-o', join(folder, name), packageName],
    ],
    { cwd, env: { ...process.env, GOWORK: 'off', GOFLAGS: '' }, whatFailed: `${name} was not built:` },
  );
  writeFileSync(join(folder, `${name}.recipe`), recipe(binary));
}

async function moduleFolder(module) {
  const env = { ...process.env, GOWORK: 'off', GOFLAGS: '' };
  const told = await run('go', ['mod', 'download', '-json', module], {
    cwd: here,
    env,
    whatFailed: `${module} is not to be had:`,
  });
  return JSON.parse(told).Dir;
}

function checkGo() {
  const { stdout, error } = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8' });
  const [, minor] = /^go1\.(\d+)/.exec(stdout ?? '') ?? [];
  if (error || Number(minor ?? 0) < 24)
    throw new Unavailable(
      `Go 1.24 or newer is needed to build the control plane; ${error ? 'there is none' : `this is ${stdout.trim()}`}.`,
    );
}
