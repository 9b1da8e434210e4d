// How fast the engine samples, beside node-llama-cpp on the same weights: `npm run bench:engine -- [--json]`. docs/engine-speed.md says
// what is measured and how. Nothing else should run on the machine.
import { SingleBar } from 'cli-progress';
import { wholeNumber } from '@hindcast/platform/terminal';
import { Command, InvalidArgumentError } from 'commander';
import { hindcast, speedOf, type BenchedEngine } from './engines';
import { findLlama, llamaCpp } from './llama-peer';
import { overHttp } from './over-http';
import { randomWeights } from './random-weights';
import { ENGINES, reportOf, type Cell, type EngineName, type Speed } from './report';
import { configOf, SIZES, type SizeName } from './sizes';

interface Options {
  readonly params: readonly SizeName[];
  readonly batch: readonly number[];
  readonly tokens: number;
  readonly rounds: number;
  readonly threads: number;
  readonly llama?: string;
  readonly peer: boolean;
  readonly http?: boolean;
  readonly json?: boolean;
}

/** Largest difference of a token's probability between the engines; llama.cpp keeps its cache in half precision. */
const AGREEMENT = 2e-3;

function options(): Options {
  return new Command('bench:engine')
    .description(
      'Tokens per second that the engine samples, with ids and log-probs, from random LLaMA weights, and that node-llama-cpp ' +
        'samples from the same weights where it is installed; in turn in every round: medians. Run it alone on the machine.',
    )
    .option('--params <list>', `of ${SIZES.join(',')}`, sizes, SIZES)
    .option('--batch <list>', 'answers at once', batches, [1, 8, 32])
    .option('--tokens <n>', 'tokens of an answer', wholeNumber(1), 120)
    .option('--rounds <n>', 'rounds', wholeNumber(1), 3)
    .option(
      '--threads <n>',
      'threads of either engine; as many as cores make node-llama-cpp wait for itself',
      wholeNumber(1),
      1,
    )
    .option('--llama <folder>', 'a folder in which node-llama-cpp is installed (default: where Node finds it)')
    .option('--no-peer', 'measure this engine only')
    .option('--http', 'also the whole engine over HTTP, with the seed model')
    .option('--json', 'print one JSON object')
    .parse()
    .opts<Options>();
}

async function main(): Promise<void> {
  const chosen = options();
  const llama = chosen.peer ? await peerOf(chosen) : null;
  const bar = new SingleBar({ format: '{bar} {value}/{total} {cell}', noTTYOutput: false, stream: process.stderr });
  bar.start(chosen.params.length * chosen.batch.length * chosen.rounds, 0, { cell: '' });
  const cells: Cell[] = [];
  for (const params of chosen.params) {
    const config = configOf(params);
    const weights = randomWeights(config, 1);
    const engines: [EngineName, BenchedEngine][] = [['hindcast', await hindcast(config, weights, chosen.threads)]];
    if (llama) engines.push(['node-llama-cpp', await llamaCpp(llama, config, weights, chosen.threads)]);
    await assertAgreement(params, engines);
    cells.push(...(await measure(params, engines, chosen, (cell) => bar.increment(1, { cell }))));
    for (const [, engine] of engines) await engine.close();
  }
  bar.stop();
  await llama?.dispose();
  const http = chosen.http ? await overHttp(chosen.rounds) : undefined;
  print(
    {
      ...reportOf(cells),
      threads: chosen.threads,
      rounds: chosen.rounds,
      tokens: chosen.tokens,
      ...(http && { http }),
    },
    chosen,
  );
}

async function peerOf({ llama, threads }: Options): Promise<Awaited<ReturnType<typeof findLlama>>> {
  try {
    const found = await findLlama(llama, threads);
    if (!found) say('node-llama-cpp is not installed: only this engine is measured. See --llama.');
    return found;
  } catch (error) {
    say(`node-llama-cpp cannot be used: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

/** @throws when the engines do not compute the same model */
async function assertAgreement(params: string, engines: readonly [EngineName, BenchedEngine][]): Promise<void> {
  const [ours, theirs] = await Promise.all(engines.map(([, engine]) => engine.firstProbabilities()));
  if (!ours || !theirs) return;
  const difference = Math.max(...ours.map((probability, id) => Math.abs(probability - theirs[id]!)));
  if (!(difference <= AGREEMENT))
    throw new Error(`${params}: the probability of a token differs by ${difference} between the engines`);
}

async function measure(
  params: string,
  engines: readonly [EngineName, BenchedEngine][],
  { batch: batches, rounds, tokens }: Options,
  tick: (cell: string) => void,
): Promise<Cell[]> {
  const cells = batches.map((batch) => {
    const measured = Object.fromEntries(ENGINES.map((name) => [name, []])) as unknown as Record<EngineName, Speed[]>;
    return { params, batch, measured };
  });
  for (const [, engine] of engines) await speedOf(engine, { batch: batches[0]!, tokens: Math.min(tokens, 16) });
  for (let round = 0; round < rounds; round++)
    for (const { batch, measured } of cells) {
      // Who goes first changes, so that a machine that slows down slows both.
      for (const [name, engine] of round % 2 === 0 ? engines : engines.toReversed())
        measured[name].push(await speedOf(engine, { batch, tokens }));
      tick(`${params} × ${batch}`);
    }
  return cells;
}

function print(report: ReturnType<typeof reportOf> & { readonly [setting: string]: unknown }, { json }: Options): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(report)}\n`);
    return;
  }
  console.table(report.rows);
  if (report.ratios.length > 0) console.table(report.ratios);
  if (report.http) process.stdout.write(`over HTTP: ${JSON.stringify(report.http, null, 2)}\n`);
}

function batches(text: string): number[] {
  return text.split(',').map(wholeNumber(1));
}

function sizes(text: string): readonly SizeName[] {
  const names = text.split(',');
  const unknown = names.filter((name) => !SIZES.includes(name as SizeName));
  if (unknown.length > 0) throw new InvalidArgumentError(`choose from ${SIZES.join(', ')}.`);
  return SIZES.filter((size) => names.includes(size));
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

void main();
