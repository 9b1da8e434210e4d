import { join } from 'node:path';
import { gpusOf, misplaced, podsOf, productOf, templatesOf } from '../core/pods.mjs';
import { until } from '../kubectl.mjs';
import { gpuNode } from '../nodes.mjs';
import { applyOverlay, deleteOverlay, renderOverlay } from '../overlays.mjs';

const GPU_NODE = 'gpu-1';
const SCHEDULED_MS = 60_000;
/** The scheduler has had every chance to do wrong by then. */
const REMAINS_PENDING_MS = 10_000;

/** The trainer waits while no node has a GPU, and binds to the one that comes. Three plain nodes are there throughout. */
export async function provePlacement({ overlays, ...tools }) {
  const told = [];
  for (const name of overlays) told.push({ name, ...(await proveIn({ ...tools, name })) });
  const wrong = told.filter(({ ok }) => !ok);
  const shown = wrong.length > 0 ? wrong : told;
  return { ok: wrong.length === 0, detail: shown.map(({ name, detail }) => `${name}: ${detail}`).join('; ') };
}

async function proveIn({ kubectl, k8s, name, say }) {
  const overlay = await renderOverlay(kubectl, join(k8s, 'overlays', name));
  const templates = templatesOf(overlay.objects);
  const trainer = templates.find((template) => template.name === 'trainer');
  if (!trainer) return { ok: false, detail: 'has no trainer' };
  await applyOverlay(kubectl, overlay);
  try {
    return await watch({ kubectl, namespace: overlay.namespace, trainer, templates, say });
  } finally {
    // In this order: on a node that is gone nobody ends a pod.
    await deleteOverlay(kubectl, overlay);
    await kubectl.run(['delete', 'node', GPU_NODE, '--ignore-not-found']);
  }
}

async function watch({ kubectl, namespace, trainer, templates, say }) {
  const pods = () => kubectl.list('pods', namespace);
  const wrong = (detail) => ({ ok: false, detail });

  say('waiting for the scheduler to find no node for the trainer…');
  const where = async () => podsOf(await pods(), trainer).find(({ spec }) => spec.nodeName !== undefined) ?? null;
  const seen = await until(async () => (await where()) ?? (await refusal(kubectl, namespace, trainer)), SCHEDULED_MS);
  const bound = seen?.spec ? seen : await until(where, REMAINS_PENDING_MS);
  if (bound) return wrong(`without a GPU node the trainer is on ${bound.spec.nodeName}`);
  if (!seen) return wrong('the scheduler did not say within a minute that no node suits the trainer');
  if (podsOf(await pods(), trainer)[0]?.status.phase !== 'Pending') return wrong('the trainer does not wait');

  say('adding a node with GPUs…');
  const wanted = templates.reduce((sum, { spec, replicas }) => sum + gpusOf(spec) * replicas, 0);
  await kubectl.create([gpuNode(GPU_NODE, productOf(trainer.spec) ?? 'NVIDIA-L4', wanted)]);
  const placed = await until(async () => {
    const found = await pods();
    const waiting = found.filter(({ spec, status }) => gpusOf(spec) > 0 && status.phase === 'Pending');
    return found.length > 0 && waiting.length === 0 ? found : null;
  }, SCHEDULED_MS);
  if (!placed) return wrong(`a pod that asks for a GPU still waits, although ${GPU_NODE} has ${wanted}`);
  const [pod] = podsOf(placed, trainer);
  const faults = misplaced(placed, [GPU_NODE]);
  if (pod?.spec.nodeName !== GPU_NODE) faults.push(`the trainer is on ${pod?.spec.nodeName}`);
  if (faults.length > 0) return wrong(faults.join(', '));
  const onPlain = placed.filter(({ spec }) => spec.nodeName !== undefined && spec.nodeName !== GPU_NODE).length;
  return {
    ok: true,
    detail: `the trainer waits while 3 nodes have no GPU (FailedScheduling: ${reason(seen.message)}) and is on ${GPU_NODE} once it comes, with none of the ${onPlain} pods that ask for no GPU`,
  };
}

/**
 * What the scheduler says now of the trainer that no node suits, once it has sent the event FailedScheduling; `null` before. A later event of the
 * same reason only counts the first one up, whatever it would say: the words are those of the pod's condition.
 */
async function refusal(kubectl, namespace, trainer) {
  const [pod] = podsOf(await kubectl.list('pods', namespace), trainer);
  if (!pod) return null;
  const about = `reason=FailedScheduling,involvedObject.name=${pod.metadata.name}`;
  const events = await kubectl.list('events', namespace, '--field-selector', about);
  const condition = pod.status.conditions?.find(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable',
  );
  // While its volumes are being made the scheduler speaks of them alone.
  const isOfNodes = condition !== undefined && !condition.message.includes('unbound immediate');
  return events.length > 0 && isOfNodes ? condition : null;
}

/** The part of the scheduler's message that counts nodes, without what it says of preemption. */
const reason = (message) => message.split('. preemption:')[0].replace(/\.$/, '');
