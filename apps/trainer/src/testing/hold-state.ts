// Run in a process of its own: does one thing with the versions of a folder under full tuning, and says how much memory that took, in
// bytes, as JSON. `node hold-state.ts MODEL_DIR POLICY_DIR begin|go-on`
import { readModelConfig } from '@hindcast/language-model';
import { peakBytes } from '@hindcast/language-model/peak-memory';
import { VersionStore } from '../version-store';
import { newManifest } from './fixtures';

async function main(baseModel: string, policyDir: string, what: string): Promise<void> {
  const config = await readModelConfig(baseModel);
  const store = await VersionStore.open(policyDir, { config, baseModel, tuning: { kind: 'full' }, seed: 0 });
  // The compiled code, the modules and their first garbage belong to the baseline.
  const baseline = peakBytes();
  const state = await store.stateOf(what === 'begin' ? 0 : 1);
  let parameters = 0;
  for (const { data } of state.weights.values()) parameters += data.length;
  // Zeros take no memory before they are written to.
  for (const moments of [state.optimizer.first, state.optimizer.second])
    for (const values of moments.values()) values.fill(1e-3);
  const record = {
    v: 1 as const,
    version: 1,
    weights: { rl: 1, opd: 1 },
    clip: { epsilonLow: 0.2, epsilonHigh: 0.28 },
    samples: [],
  };
  if (what === 'begin') await store.commit(newManifest(1, state, store.tuning), state, record);
  const peak = peakBytes();
  await store.close();
  process.stdout.write(JSON.stringify({ extra: peak - baseline, parameters }));
}

void main(process.argv[2]!, process.argv[3]!, process.argv[4]!);
