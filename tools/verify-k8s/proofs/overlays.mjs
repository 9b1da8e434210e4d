import { join } from 'node:path';
import { Failed } from '../commands.mjs';
import { admittedPods, applyOverlay, deleteOverlay, overlayNames, renderOverlay } from '../overlays.mjs';
import { templatesOf } from '../core/pods.mjs';

/** Every overlay is accepted by the API server, key by key, and every pod it asks for is admitted. */
export async function proveOverlays({ kubectl, k8s, say }) {
  const told = [];
  const wrong = [];
  for (const name of overlayNames(k8s)) {
    say(`applying ${name}…`);
    const overlay = await renderOverlay(kubectl, join(k8s, 'overlays', name));
    try {
      const applied = await applyOverlay(kubectl, overlay);
      const { pods, refused } = await admittedPods(
        kubectl,
        overlay.namespace,
        templatesOf(overlay.objects).filter(({ replicas }) => replicas > 0),
      );
      wrong.push(...refused.map((why) => `${name}: ${why}`));
      told.push(`${name} ${applied.length} objects, ${pods.length} pods`);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      wrong.push(`${name}: ${error.message}`);
    }
    await deleteOverlay(kubectl, overlay);
  }
  const ok = wrong.length === 0 && told.length > 0;
  return { ok, detail: ok ? told.join('; ') : wrong.join('; ') || 'there is no overlay' };
}
