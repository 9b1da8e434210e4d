import { parentPort, workerData } from 'node:worker_threads';
import { loadTokenizer, readModelConfig } from '@hindcast/language-model';
import { batches } from './batches';
import { DocumentEncoder } from './encoded-document';
import { parameterCount, parameterSlices } from './parameters';
import { Shard } from './shard';
import type { WorkerStart } from './workers';

// A thread of pre-training: for each message one step, answered with its loss.

async function start({
  dir,
  stream,
  earlyTokens,
  skip,
  parameters,
  gradient,
}: WorkerStart): Promise<() => Promise<void>> {
  const config = await readModelConfig(dir);
  const slices = parameterSlices(config);
  const documents = batches(new DocumentEncoder(await loadTokenizer(dir)), stream, earlyTokens);
  for (let skipped = 0; skipped < skip; skipped += 1) documents.next();
  const shard = new Shard(config, slices, documents, 1);
  const shared = new Float32Array(parameters);
  // onnxruntime reads ordinary memory only.
  const own = new Float32Array(parameterCount(slices));
  return async () => {
    own.set(shared);
    parentPort?.postMessage(await shard.step(own, new Float32Array(gradient)));
  };
}

const ready = start(workerData as WorkerStart);
parentPort?.on('message', () => {
  void ready.then((step) => step());
});
