// What each overlay is for, as far as rules depend on it.

/**
 * - `hasGpu`: the trainer (and vLLM, where it is there) computes on a GPU; `false`: nothing may ask for one.
 * - `keepsGpuNodesFree`: what needs no GPU must not land on a node that has one.
 * - `isOneNode`: pods share a node, so that a volume which one node may write serves them all.
 */
export const overlays = {
  local: { hasGpu: false, keepsGpuNodesFree: false, isOneNode: true },
  gpu: { hasGpu: true, keepsGpuNodesFree: false, isOneNode: true },
  production: { hasGpu: true, keepsGpuNodesFree: true, isOneNode: false },
  'external-engine': { hasGpu: true, keepsGpuNodesFree: false, isOneNode: false },
};
