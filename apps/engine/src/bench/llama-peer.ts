import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { HostTensor, LlamaConfig } from '@hindcast/language-model';
import { promptOf, type BenchedEngine } from './engines';
import { ggufFile } from './gguf';

// node-llama-cpp is no dependency: it weighs 732 MB. What is used of it:
interface Llama {
  loadModel(options: { modelPath: string; useMmap: boolean }): Promise<Model>;
  dispose(): Promise<void>;
}
interface Model {
  createContext(options: {
    sequences: number;
    contextSize: number;
    batchSize: number;
    threads: { ideal: number; min: number };
  }): Promise<Context>;
  dispose(): Promise<void>;
}
interface Context {
  getSequence(): Sequence;
  dispose(): Promise<void>;
}
interface Sequence {
  evaluateWithMetadata(
    tokens: readonly number[],
    metadata: { probabilities?: boolean },
    options: object,
  ): AsyncIterable<{ probabilities?: ReadonlyMap<number, number> }>;
  dispose(): void;
}
interface Library {
  getLlama(options: { gpu: false; build: 'never'; logLevel: string; maxThreads: number }): Promise<Llama>;
}

/** The whole distribution at temperature 1, as our engine draws; an end token ends nothing. */
const sampling = { temperature: 1, topK: 0, topP: 1, minP: 0, yieldEogToken: true };

/** Loads node-llama-cpp from `folder` (one with a node_modules in it) or from where a `require` here would find it; null if it is not there. */
export async function findLlama(folder: string | undefined, threads: number): Promise<Llama | null> {
  const places = folder
    ? [resolve(folder)]
    : [process.cwd(), __dirname, join(dirname(dirname(process.execPath)), 'lib')];
  for (const place of places) {
    let path: string;
    try {
      path = createRequire(join(place, 'any.js')).resolve('node-llama-cpp');
    } catch {
      continue;
    }
    const { getLlama } = (await import(pathToFileURL(path).href)) as Library;
    return await getLlama({ gpu: false, build: 'never', logLevel: 'error', maxThreads: threads });
  }
  return null;
}

/** The same weights in llama.cpp, all answers as sequences of one context; tokens are drawn without their probabilities. */
export async function llamaCpp(
  llama: Llama,
  config: LlamaConfig,
  weights: ReadonlyMap<string, HostTensor>,
  threads: number,
): Promise<BenchedEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-engine-'));
  let model: Model;
  try {
    const modelPath = join(folder, 'model.gguf');
    await writeFile(modelPath, ggufFile(config, weights));
    model = await llama.loadModel({ modelPath, useMmap: false });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const contextOf = (sequences: number, contextSize: number): Promise<Context> =>
    model.createContext({ sequences, contextSize, batchSize: 512, threads: { ideal: threads, min: threads } });

  return {
    async prepare({ batch, tokens }) {
      const context = await contextOf(batch, promptOf(0).length + tokens + 8);
      const sequences = Array.from({ length: batch }, () => context.getSequence());
      const run = (): Promise<unknown> => Promise.all(sequences.map((sequence, i) => generate(sequence, i, tokens)));
      return { run, end: () => context.dispose() };
    },
    async firstProbabilities() {
      const context = await contextOf(1, 64);
      try {
        const probabilities = new Float64Array(config.vocabSize);
        const tokens = context.getSequence().evaluateWithMetadata(promptOf(0), { probabilities: true }, sampling);
        for await (const { probabilities: found } of tokens) {
          for (const [id, probability] of found ?? []) probabilities[id] = probability;
          break;
        }
        return probabilities;
      } finally {
        await context.dispose();
      }
    },
    close: () => model.dispose(),
  };
}

async function generate(sequence: Sequence, index: number, tokens: number): Promise<void> {
  let count = 0;
  const drawn = sequence.evaluateWithMetadata(promptOf(index), {}, { ...sampling, seed: index + 1 });
  for await (const _ of drawn) if (++count === tokens) break;
  if (count < tokens) throw new Error(`node-llama-cpp ended an answer after ${count} of ${tokens} tokens`);
}
