import { readModelConfig, writeModelWeights } from '@hindcast/language-model';
import { AdamW } from './adam-w';
import { checkpointSteps, loadCheckpoint, type Progress, type RunSettings, saveCheckpoint } from './checkpoint';
import { initialParameters, namedTensors, parameterCount, parameterSlices } from './parameters';
import { pretrain } from './pretrain';
import { progressBar } from './progress';
import { earlyTokens } from './schedule';
import { Workers } from './workers';

const adamW = { beta1: 0.9, beta2: 0.98, epsilon: 1e-9, weightDecay: 0.05, maxNorm: 1 };
const secondsBetweenCheckpoints = 60;

/** What training has come to. */
export interface Trained extends Progress {
  readonly parameters: number;
  readonly steps: number;
}

/**
 * Trains the model whose configuration and tokenizer lie in `modelDir`, from its last checkpoint if it has one, and writes its
 * weights there. A signal saves a checkpoint and ends the process.
 */
export async function train(modelDir: string, checkpoint: string, settings: RunSettings): Promise<Trained> {
  const config = await readModelConfig(modelDir);
  const slices = parameterSlices(config);
  const count = parameterCount(slices);
  const skip = await checkpointSteps(checkpoint, settings);
  const source = new Workers({
    dir: modelDir,
    seed: settings.seed,
    count: settings.workers,
    earlyTokens: earlyTokens(settings.tokenBudget),
    skip,
    parameterCount: count,
  });
  const optimizer = new AdamW(slices, count, adamW);
  const run = { parameters: source.parameters, optimizer };
  const progress = (await loadCheckpoint(checkpoint, settings, run)) ?? { tokens: 0, seconds: 0, curve: [] };
  if (optimizer.steps === 0) source.parameters.set(initialParameters(config, settings.seed));

  const bar = progressBar('Training', settings.tokenBudget, progress.tokens);
  let isInterrupted = false;
  const interrupt = (): void => void (isInterrupted = true);
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  let saved = performance.now();
  await pretrain({
    source,
    optimizer,
    tokenBudget: settings.tokenBudget,
    progress,
    now: () => performance.now(),
    afterStep: async () => {
      const rate = (progress.tokens / progress.seconds / 1000).toFixed(1);
      const loss = progress.curve.at(-1)?.loss.toFixed(3) ?? '–';
      bar.update(progress.tokens, `${(progress.tokens / 1e6).toFixed(2)}M tokens, ${rate}k a second, loss ${loss}`);
      if (performance.now() - saved < secondsBetweenCheckpoints * 1000) return;
      await saveCheckpoint(checkpoint, settings, { ...run, progress });
      saved = performance.now();
    },
    isInterrupted: () => isInterrupted,
  });
  bar.stop();
  process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  await saveCheckpoint(checkpoint, settings, { ...run, progress });
  await source.close();
  if (isInterrupted) process.exit(130);
  await writeModelWeights(modelDir, namedTensors(slices, Float32Array.from(source.parameters)));
  return { ...progress, parameters: count, steps: optimizer.steps };
}
