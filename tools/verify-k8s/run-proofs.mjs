import { join } from 'node:path';
import { Failed } from './commands.mjs';
import { startControlPlane } from './control-plane.mjs';
import { startBroker } from './broker.mjs';
import { startKeda } from './keda.mjs';
import { gpuNode, plainNodes } from './nodes.mjs';
import { applyOverlay, renderOverlay, writePatched } from './overlays.mjs';
import { patchesFor, proveBacklog } from './proofs/backlog.mjs';
import { proveOverlays } from './proofs/overlays.mjs';
import { provePlacement } from './proofs/placement.mjs';
import { proveRollout } from './proofs/rollout.mjs';
import { Volumes } from './volumes.mjs';
import { fileURLToPath } from 'node:url';

const stages = fileURLToPath(new URL('simulation/stages.yaml', import.meta.url));
/** The overlay that scales by KEDA and has more than one of each. */
const SCALED = 'production';
const GPUS = 8;

/** Runs the proofs that are asked for, in an order in which none leaves anything to the next. @param report gets each result */
export async function runProofs({ bin, definitions, folder, k8s, only, processes, report, say }) {
  const controlPlane = await startControlPlane({ bin, folder, processes, stages, say });
  const { kubectl } = controlPlane;
  for (const crds of Object.values(definitions))
    await kubectl.run(['apply', '--server-side', '--field-manager=verify-k8s', '-f', crds]);
  await kubectl.run(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);

  const prove = async (name, proof, more = {}) => {
    const from = Date.now();
    const told = await proof({ kubectl, k8s, folder, processes, say, ...more }).catch((error) => {
      if (!(error instanceof Failed)) throw error;
      return { ok: false, detail: error.message };
    });
    report({ name, ...told, seconds: (Date.now() - from) / 1000 });
  };

  if (only.includes('overlays')) await prove('overlays', proveOverlays);
  if (!only.some((name) => ['placement', 'backlog', 'rollout'].includes(name))) return;

  await kubectl.create(plainNodes());
  const volumes = new Volumes(kubectl);
  try {
    if (only.includes('placement')) await prove('placement', provePlacement, { overlays: ['gpu', SCALED] });
    if (!only.includes('backlog') && !only.includes('rollout')) return;

    await kubectl.create([gpuNode('gpu-1', 'NVIDIA-L4', GPUS)]);
    const base = join(k8s, 'overlays', SCALED);
    const { objects } = await renderOverlay(kubectl, base);
    const account = objects.find(({ kind, metadata }) => kind === 'ScaledObject' && metadata.name === 'judge-svc')?.spec
      .triggers[0].metadata.account;
    const broker = await startBroker({ folder: join(folder, 'broker'), processes, account: account ?? '$G', say });
    const overlay = await renderOverlay(
      kubectl,
      writePatched(join(folder, 'overlay'), base, patchesFor(objects, broker.monitoring)),
    );
    await applyOverlay(kubectl, overlay);
    const { namespace } = overlay;
    // KEDA resolves the variables of what it scales, and does nothing while a Secret of theirs is missing.
    await kubectl.run(['apply', '--server-side', '-n', namespace, '-f', join(k8s, 'secrets.example.yaml')]);
    await startKeda({ bin, folder, processes, controlPlane, say });
    if (only.includes('backlog'))
      await prove('backlog', proveBacklog, { namespace, broker, folder: join(folder, 'broker') });
    if (only.includes('rollout')) await prove('rollout', proveRollout, { namespace });
    await broker.nats.close();
  } finally {
    await volumes.stop();
  }
}
