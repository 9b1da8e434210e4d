import { setTimeout as sleep } from 'node:timers/promises';
import { Failed } from './commands.mjs';

const LABEL = 'verify-k8s';

/** In the place of a provisioner: gives every claim that waits a volume that fits it, for as long as it runs. */
export class Volumes {
  #isStopped = false;
  #running;

  constructor(kubectl) {
    this.kubectl = kubectl;
    this.#running = this.#run();
  }

  async #run() {
    while (!this.#isStopped) {
      await this.#provide().catch((error) => {
        // A claim or volume that somebody else changed meanwhile is looked at again.
        if (!(error instanceof Failed)) throw error;
      });
      await sleep(1_000);
    }
  }

  async #provide() {
    const claims = await this.kubectl.list('persistentvolumeclaims', null);
    const waiting = claims.filter(({ status, spec }) => status.phase === 'Pending' && !spec.volumeName);
    if (waiting.length === 0) return;
    const volumes = new Set((await this.kubectl.list('persistentvolumes', null)).map(({ metadata }) => metadata.name));
    const made = waiting.map((claim) => volumeFor(claim)).filter(({ metadata }) => !volumes.has(metadata.name));
    if (made.length > 0) await this.kubectl.create(made);
  }

  async stop() {
    this.#isStopped = true;
    await this.#running;
  }

  /** Deletes all of them. */
  clear() {
    return this.kubectl.run(['delete', 'persistentvolumes', '-l', `${LABEL}=true`, '--wait=true', '--timeout=60s']);
  }
}

function volumeFor({ metadata: { name, namespace, uid }, spec }) {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `v-${uid}`, labels: { [LABEL]: 'true' } },
    spec: {
      capacity: { storage: spec.resources.requests.storage },
      accessModes: spec.accessModes,
      volumeMode: spec.volumeMode ?? 'Filesystem',
      storageClassName: spec.storageClassName ?? '',
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path: `/nowhere/${name}` },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
    },
  };
}
