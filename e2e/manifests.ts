import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface Manifest {
  readonly version: number;
  readonly state: string;
  readonly turnIds: readonly string[];
}

/** Every committed version of a policy folder, oldest first. */
export function manifests(policyDir: string): Manifest[] {
  return readdirSync(policyDir)
    .filter((name) => /^v\d{6}$/.test(name))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(policyDir, name, 'manifest.json'), 'utf8')) as Manifest);
}
