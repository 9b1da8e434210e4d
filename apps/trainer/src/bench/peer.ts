import { spawnSync } from 'node:child_process';

/** PyTorch, as a Python that has it; `null` where there is none. */
export interface Peer {
  readonly python: string;
  readonly version: string;
}

/** Asks `HINDCAST_PYTHON`, or `python3`, for its torch. */
export function findPeer(python: string): Peer | null {
  const { status, stdout } = spawnSync(python, ['-c', 'import torch; print(torch.__version__)'], { encoding: 'utf8' });
  return status === 0 ? { python, version: stdout.trim() } : null;
}
