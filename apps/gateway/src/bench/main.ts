// How fast the gateway is beside no gateway and beside another one: `npm run bench:gateway -- [--json]`. docs/speed.md says what is
// measured and how. Nothing else should run on the machine.
import { join } from 'node:path';
import { wholeNumber } from '@hindcast/platform/terminal';
import { Command, InvalidArgumentError } from 'commander';
import {
  CELLS,
  DEFAULT_TARGETS,
  TARGETS,
  cellName,
  chosenCells,
  requestsOf,
  warmUpRequestsOf,
  type Cell,
  type Target,
} from './cells';
import { ratios, table, type Row } from './report';
import { Stage } from './stage';
import { measured, rounded, type Sample } from './statistics';

interface Options {
  readonly json?: boolean;
  readonly rounds: number;
  readonly requests?: number;
  readonly targets: readonly Target[];
  readonly cells: readonly Cell[];
  readonly soak?: number;
  readonly gatewayMain: string;
  readonly gatewayNode?: string;
}

/** Of a soak, and of warming up; the client ends by itself long before. */
const LONGEST_PART_MS = 600_000;

const say = (text: string): void => void process.stderr.write(`${text}\n`);

function targets(text: string): readonly Target[] {
  const names = text.split(',');
  const unknown = names.filter((name) => !TARGETS.includes(name as Target));
  if (unknown.length > 0) throw new InvalidArgumentError(`choose from ${TARGETS.join(', ')}.`);
  return TARGETS.filter((target) => names.includes(target));
}

function cells(text: string): readonly Cell[] {
  const chosen = chosenCells(text.split(','));
  if (chosen.length === 0) throw new InvalidArgumentError(`choose from ${CELLS.map(cellName).join(', ')}.`);
  return chosen;
}

function options(): Options {
  return new Command('bench:gateway')
    .description(
      'Requests per second, added latency, CPU and memory of the gateway with capture on, beside the engine alone and ' +
        '@portkey-ai/gateway, in turn in every round: medians. Run it alone on the machine; all of it takes about fifteen minutes.',
    )
    .option('--json', 'print one JSON object')
    .option('--rounds <n>', 'rounds', wholeNumber(1), 5)
    .option('--requests <n>', 'requests of a cell and round (default: by cell)', wholeNumber(1))
    .option('--targets <list>', `of ${TARGETS.join(',')}`, targets, DEFAULT_TARGETS)
    .option('--cells <list>', `e.g. c16 or c64/stream/1kB,paced (default: all ${CELLS.length})`, cells, CELLS)
    .option('--soak <n>', 'send so many requests to Hindcast only and watch its memory', wholeNumber(1))
    .option('--gateway-main <file>', 'another build of the gateway', join(__dirname, '../main.js'))
    .option('--gateway-node <options>', "options of the gateway's node, e.g. --cpu-prof")
    .parse()
    .opts<Options>();
}

async function main(): Promise<void> {
  const chosen = options();
  const stage = await Stage.set({
    targets: chosen.soak ? ['hindcast'] : chosen.targets,
    gatewayMain: chosen.gatewayMain,
    nodeOptions: chosen.gatewayNode?.split(' ') ?? [],
    natsServer: process.env['NATS_SERVER_BIN'] ?? 'nats-server',
    say,
  });
  const end = (): void => void stage.clear().then(() => process.exit(1));
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
  try {
    const result = chosen.soak ? await soak(stage, chosen.soak) : await compare(stage, chosen);
    if (chosen.json) process.stdout.write(`${JSON.stringify(result)}\n`);
    else {
      if (result.rows.length > 0) process.stdout.write(`${table(result.rows)}\n\n`);
      if (result.ratios.length > 0) console.table(result.ratios);
      process.stdout.write(`memory of the gateway, MB: ${JSON.stringify(result.rssMb)}\n`);
    }
  } finally {
    process.off('SIGINT', end);
    process.off('SIGTERM', end);
    await stage.clear();
  }
}

interface Result {
  readonly rows: readonly Row[];
  readonly rssMb: object | null;
  readonly ratios: ReturnType<typeof ratios>;
  readonly captured: Record<string, number>;
}

async function compare(stage: Stage, chosen: Options): Promise<Result> {
  await warmUp(stage, chosen.targets, chosen.cells);
  const hasHindcast = chosen.targets.includes('hindcast');
  const start = hasHindcast ? stage.rssMb('hindcast') : null;
  const samples = new Map<string, Sample[]>();
  for (let round = 1; round <= chosen.rounds; round++) {
    for (const cell of chosen.cells) {
      for (const target of chosen.targets) {
        const sample = await stage.measure(target, cell, chosen.requests ?? requestsOf(cell));
        const key = `${cellName(cell)} ${target}`;
        samples.set(key, [...(samples.get(key) ?? []), sample]);
      }
      say(`round ${round}/${chosen.rounds}  ${cellName(cell)}`);
    }
    await stage.dropCaptures();
  }
  const rows = chosen.cells.flatMap((cell) =>
    chosen.targets.map((target): Row => {
      const of = (name: Target): Sample[] => samples.get(`${cellName(cell)} ${name}`) ?? [];
      return { target, ...cell, ...measured(of(target), of('direct')) };
    }),
  );
  const rssMb = hasHindcast ? { start: rounded(start, 1), end: rounded(stage.rssMb('hindcast'), 1) } : null;
  return { rows, rssMb, ratios: ratios(rows), captured: await stage.counters() };
}

/** Compiles the hot paths of every process, and opens the connections that stay. */
async function warmUp(stage: Stage, names: readonly Target[], chosen: readonly Cell[]): Promise<void> {
  say('warming up');
  const sizes = new Set(chosen.map(({ promptBytes }) => promptBytes));
  for (const promptBytes of sizes)
    for (const stream of [false, true])
      for (const target of names)
        await stage.measure(
          target,
          { concurrency: 16, stream, paceMs: 0, promptBytes },
          warmUpRequestsOf(promptBytes),
          LONGEST_PART_MS,
        );
}

/** Half of the requests streamed, 16 at a time; memory at the quarters. */
async function soak(stage: Stage, requests: number): Promise<Result> {
  const PART = 500;
  let sent = 0;
  const start = stage.rssMb('hindcast');
  const quarters: (number | null)[] = [];
  for (let part = 0; sent < requests; part++) {
    const cell = { concurrency: 16, stream: part % 2 === 1, paceMs: 0, promptBytes: 1024 };
    const { requests: done, failures } = await stage.measure(
      'hindcast',
      cell,
      Math.min(PART, requests - sent),
      LONGEST_PART_MS,
    );
    if (failures > 0) throw new Error(`${failures} of ${done} requests failed`);
    sent += done;
    while (quarters.length < 4 && sent >= (requests * (quarters.length + 1)) / 4) {
      quarters.push(rounded(stage.rssMb('hindcast'), 1));
      say(`${sent} requests  ${quarters.at(-1)} MB`);
    }
    await stage.dropCaptures();
  }
  const rssMb = { start: rounded(start, 1), quarters, end: quarters.at(-1) ?? null };
  return { rows: [], rssMb, ratios: [], captured: await stage.counters() };
}

void main();
