// Run in a process of its own: reads a model's weights and says how much memory that took, in bytes, as JSON.
import { peakBytes } from '../peak-memory';
import { readModelConfig } from '../config';
import { readModelWeights } from '../model-weights';

async function main(dir: string): Promise<void> {
  const config = await readModelConfig(dir);
  // The compiled code, the modules and their first garbage belong to the baseline.
  const baseline = peakBytes();
  const weights = await readModelWeights(dir, config);
  const peak = peakBytes();
  let bytes = 0;
  for (const { data } of weights.values()) bytes += data.byteLength;
  process.stdout.write(JSON.stringify({ extra: peak - baseline, bytes }));
}

void main(process.argv[2] as string);
