import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { createInterface } from 'node:readline';
import { Failed, run } from './commands.mjs';

/** kubectl as one client. */
export class Kubectl {
  constructor(kubeconfig) {
    this.kubeconfig = kubeconfig;
    this.env = { ...process.env, KUBECONFIG: kubeconfig };
  }

  /** @returns stdout @throws Failed with what kubectl said */
  run(args, input) {
    return run('kubectl', args, { env: this.env, input });
  }

  /** Objects of one kind in a namespace (`null`: in none, or in all). */
  async list(kind, namespace, ...more) {
    const where = namespace === null ? ['-A'] : ['-n', namespace];
    return JSON.parse(await this.run(['get', kind, ...where, ...more, '-o', 'json'])).items;
  }

  /** One object. @throws Failed when there is none */
  async get(kind, name, namespace) {
    return JSON.parse(await this.run(['get', kind, name, ...(namespace ? ['-n', namespace] : []), '-o', 'json']));
  }

  /** Server-side apply that refuses unknown and doubled keys. @returns a line per object */
  async apply(manifests) {
    const told = await this.run(
      ['apply', '--server-side', '--validate=strict', '--field-manager=verify-k8s', '-f', '-'],
      manifests,
    );
    return told.trim().split('\n');
  }

  create(objects) {
    return this.run(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  }

  /** The manifests of a folder, as YAML; needs no server. */
  render(folder) {
    return this.run(['kustomize', folder]);
  }

  /** Follows one object from now on; `sample` gets every change. @returns a function that ends it */
  follow(kind, name, namespace, sample) {
    // The fields one asks for, a change per line: whole objects would have to be cut out of a stream.
    const template =
      '{{.metadata.generation}} {{.status.observedGeneration}} {{.spec.replicas}} {{or .status.replicas 0}} {{or .status.updatedReplicas 0}} {{or .status.availableReplicas 0}}{{"\\n"}}';
    const child = spawn('kubectl', ['get', kind, name, '-n', namespace, '--watch', '-o', `go-template=${template}`], {
      env: this.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [generation, observed, wanted, replicas, updated, available] = line.split(' ').map(Number);
      sample({ generation, observed, wanted, replicas, updated, available });
    });
    return () => child.kill();
  }
}

/**
 * Asks again until `look` gives something other than `null`. A refusal of kubectl counts as `null`: what is asked for may not be there yet.
 *
 * @returns what it gave, or `null` after `limitMs`
 */
export async function until(look, limitMs, everyMs = 500) {
  for (const end = Date.now() + limitMs; ;) {
    const found = await look().catch((error) => {
      if (error instanceof Failed) return null;
      throw error;
    });
    if (found !== null) return found;
    if (Date.now() > end) return null;
    await sleep(everyMs);
  }
}
