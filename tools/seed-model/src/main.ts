import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { RunSettings } from './checkpoint';
import { tokenizerTexts } from './corpus';
import { Engine } from './engine';
import { missedGoals, probeSets, score, type Score } from './evaluation';
import { learnTokenizer, seedModelSize, writeModelFiles } from './model-files';
import { type Options, readOptions } from './options';
import { progressBar } from './progress';
import { type Report, reportText } from './report';
import { train } from './train';

const engineMain = resolve(__dirname, '../../../apps/engine/dist/main.js');

async function main(options: Options): Promise<number> {
  const modelDir = resolve(options.work, 'model');
  await mkdir(modelDir, { recursive: true });
  const settings: RunSettings = { seed: options.seed, tokenBudget: options.tokens, workers: options.workers };

  say(`Learning a tokenizer of ${seedModelSize.vocabSize} tokens`);
  await writeModelFiles(modelDir, seedModelSize, learnTokenizer(tokenizerTexts(options.seed), seedModelSize.vocabSize));
  const trained = await train(modelDir, join(options.work, 'checkpoint.safetensors'), settings);
  const scores = await evaluate(modelDir, options);

  const { parameters, steps, tokens, seconds, curve } = trained;
  const report: Report = { settings, parameters, steps, tokens, trainingSeconds: seconds, curve, scores };
  await writeFile(join(modelDir, 'report.json'), `${JSON.stringify(report, null, 1)}\n`);
  await writeFile(join(modelDir, 'REPORT.md'), reportText(report));

  const missed = missedGoals(scores);
  if (missed.length > 0) say(`Goals missed: ${missed.join('; ')}`);
  if (missed.length > 0 && !options.anyQuality) {
    say(`The model stays in ${modelDir}; --any-quality would write it to ${options.out}`);
    return 1;
  }
  await cp(modelDir, options.out, { recursive: true });
  say(`Wrote ${options.out}`);
  return 0;
}

async function evaluate(modelDir: string, { seed, questions }: Options): Promise<Score[]> {
  const sets = probeSets(seed, questions);
  // Ends through process.exit, which takes the engine along.
  const interrupt = (): never => process.exit(130);
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  const engine = await Engine.start(engineMain, modelDir);
  const bar = progressBar('Asking', sets.length * questions);
  try {
    const scores: Score[] = [];
    let answered = 0;
    for (const set of sets) {
      const replies = await engine.replies(set.probes, seed, () => bar.update((answered += 1), set.name));
      scores.push(score(set, replies));
    }
    return scores;
  } finally {
    bar.stop();
    await engine.stop();
  }
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

void main(readOptions(process.argv)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
