// How fast a step of the trainer is beside the same step in PyTorch: `npm run bench:trainer -- [--json]`. docs/trainer-speed.md says
// what is measured and how. Nothing else should run on the machine.
import { SingleBar } from 'cli-progress';
import { wholeNumber } from '@hindcast/platform/terminal';
import { Command, InvalidArgumentError } from 'commander';
import { EngineProcess } from './engine-process';
import { findPeer, type Peer } from './peer';
import { reportOf, type Measured, type Report, type Round } from './report';
import { SIZES, sizeOf, type Size, type SizeName } from './sizes';
import { benchHyperparameters, type StepAnswer } from './step-process';

interface Options {
  readonly size: readonly SizeName[];
  readonly rounds: number;
  readonly threads: number;
  readonly layers?: number;
  readonly json?: boolean;
}

/** Largest difference of the two engines' losses and gradient norms in the first step, relative. */
const AGREEMENT = 1e-3;

function sizes(text: string): readonly SizeName[] {
  const names = text.split(',');
  const unknown = names.filter((name) => !SIZES.includes(name as SizeName));
  if (unknown.length > 0) throw new InvalidArgumentError(`choose from ${SIZES.join(', ')}.`);
  return SIZES.filter((size) => names.includes(size));
}

function options(): Options {
  return new Command('bench:trainer')
    .description(
      'Tokens per second of a whole step (forward, backward, clip, AdamW) of the trainer and of the same step in PyTorch, in turn ' +
        'in every round: medians, with peak memory, the share of the time that matrix products take, and what the ratio could be at the most. PyTorch is that of ' +
        'HINDCAST_PYTHON, or of python3. Run it alone on the machine.',
    )
    .option('--size <list>', `of ${SIZES.join(',')}`, sizes, SIZES)
    .option('--rounds <n>', 'rounds', wholeNumber(1), 5)
    .option('--threads <n>', 'threads of either engine', wholeNumber(1), 2)
    .option('--layers <n>', 'other than the own number of layers, for a quick look', wholeNumber(1))
    .option('--json', 'print one JSON object')
    .parse()
    .opts<Options>();
}

async function main(): Promise<void> {
  const chosen = options();
  const python = process.env['HINDCAST_PYTHON'] ?? 'python3';
  const peer = findPeer(python);
  if (!peer) say(`${python} has no torch: only the trainer is measured. HINDCAST_PYTHON may name another Python.`);
  const bar = new SingleBar({ format: '{bar} {value}/{total} {size}', noTTYOutput: false, stream: process.stderr });
  const measured: Measured[] = [];
  bar.start(chosen.size.length * (chosen.rounds + 1), 0, { size: '' });
  for (const name of chosen.size) {
    const size = sizeOf(name, chosen.layers);
    measured.push(await measure(size, peer, chosen, () => bar.increment(1, { size: name })));
  }
  bar.stop();
  print(reportOf(measured, { threads: chosen.threads, rounds: chosen.rounds, pytorch: peer?.version ?? null }), chosen);
}

/** One size: a first step of each engine, whose results must agree, then rounds in turn. */
async function measure(size: Size, peer: Peer | null, chosen: Options, tick: () => void): Promise<Measured> {
  const { threads, layers } = chosen;
  const order = { size: size.name, threads, ...(layers && { layers }) };
  const hindcast = await EngineProcess.hindcast(order);
  const products = await EngineProcess.hindcast({ ...order, matmulOnly: true });
  const pytorch = peer && (await EngineProcess.torch(peer, size, benchHyperparameters(size), threads));
  try {
    const first = await hindcast.step();
    if (pytorch) assertAgreement(size, first, await pytorch.step());
    tick();
    const rounds: { hindcast: Round[]; pytorch: Round[]; matmulMs: number[] } = {
      hindcast: [],
      pytorch: [],
      matmulMs: [],
    };
    for (let round = 0; round < chosen.rounds; round++) {
      rounds.hindcast.push(await steps(hindcast, size));
      if (pytorch) rounds.pytorch.push(await steps(pytorch, size));
      rounds.matmulMs.push(await products.matmulMs());
      tick();
    }
    const leastMs = pytorch && (await pytorch.leastMs());
    return { size: size.name, tokens: size.samples * size.length, ...rounds, leastMs };
  } finally {
    for (const engine of [hindcast, products, pytorch]) await engine?.end();
  }
}

async function steps(engine: EngineProcess, size: Size): Promise<Round> {
  const round: StepAnswer[] = [];
  for (let i = 0; i < size.steps; i++) round.push(await engine.step());
  return round;
}

/** @throws when the two engines do not compute the same */
function assertAgreement(size: Size, ours: StepAnswer, theirs: StepAnswer): void {
  const scale = Math.max(Math.abs(ours.loss), 0.1);
  const differs = Math.abs(ours.loss - theirs.loss) / scale > AGREEMENT;
  const normDiffers = Math.abs(ours.gradNorm / theirs.gradNorm - 1) > AGREEMENT;
  if (!differs && !normDiffers) return;
  throw new Error(
    `${size.name}: the loss is ${ours.loss} and its gradient's norm ${ours.gradNorm}; PyTorch says ${theirs.loss} and ${theirs.gradNorm}`,
  );
}

function print(report: Report, { json }: Options): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(report)}\n`);
    return;
  }
  console.table(report.rows);
  console.table(
    Object.entries(report.ratios).map(([size, speed]) => ({
      size,
      'tokens/s by PyTorch': speed,
      'memory by PyTorch': report.memoryRatios[size as SizeName],
      'at the most': report.ceilings[size as SizeName],
      'matmul share': report.matmulShares[size as SizeName],
    })),
  );
  say(`PyTorch ${report.pytorch ?? 'is not there'}, ${report.threads} threads, ${report.rounds} rounds`);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

void main();
