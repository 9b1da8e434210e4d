import { wholeNumber } from '@hindcast/platform/terminal';
import { Command, Option } from 'commander';
import { Stage, type Run } from '../bench-pipeline/stage';
import { PROMPT_TOKENS, RESPONSE_TOKENS } from '../bench-pipeline/turns';
import { median } from '../core/learning-curve';
import { Progress, say } from '../progress';
import { root } from '../start-stack';

interface Flags {
  readonly rounds: number;
  readonly turns: number;
  readonly scaling: boolean;
  readonly node: string;
  readonly json?: boolean;
}

/** Replicas of judge-svc that are compared. */
const REPLICAS = [1, 2, 4];
const SLOW_JUDGE_MS = 1_000;
/** Judge calls in flight of a replica in the scaling runs: ten turns of six votes. */
const SCALING_CONCURRENCY = 60;
/** Turns of a scaling run by replica: about twenty seconds of judging, after some that compile. */
const SCALING_TURNS = 200;
const SCALING_WARM_UP_TURNS = 30;

/** Turns before the first round: a cold process takes twice the CPU. */
const WARM_UP_TURNS = 1_500;

/** What the numbers hold for. */
const DURABILITY =
  'nats-server: file storage, survives the death of a process, syncs every two minutes; PostgreSQL: fsync and synchronous_commit on';

export const benchPipeline = new Command('bench-pipeline')
  .description(
    'How many paired turns a second are judged, scored by the teacher and decided, ledger included, and how that grows with replicas ' +
      'of judge-svc. Real nats-server, real PostgreSQL, fake judge and teacher engine. Run it alone on the machine.',
  )
  .addOption(new Option('--rounds <n>', 'rounds; medians are printed').argParser(wholeNumber(1)).default(3))
  .addOption(
    new Option('--turns <n>', 'turns of a round with an instant judge').argParser(wholeNumber(1)).default(3000),
  )
  .option('--no-scaling', 'only the instant judge')
  .option('--node <options>', "options of the services' node in the runs with an instant judge, e.g. --cpu-prof", '')
  .option('--json', 'print one JSON object on standard output')
  .action(async ({ rounds, turns, scaling: scales, node, json }: Flags) => {
    const progress = new Progress('Rounds', rounds * (1 + (scales ? REPLICAS.length : 0)), 1);
    try {
      const instant = await instantRounds(rounds, turns, node.split(' ').filter(Boolean), progress);
      const scaling = scales ? await scalingRounds(rounds, progress) : [];
      const result = {
        turnsPerSecond: rounded(instant.turnsPerSecond),
        scaling: Object.fromEntries(scaling.map(({ replicas, rate }) => [String(replicas), rounded(rate)])),
        growth: scales ? rounded(scaling.at(-1)!.rate / scaling[0]!.rate) : null,
        cpuMsPerTurn: instant.cpuMsPerTurn,
        turn: { promptTokens: PROMPT_TOKENS, responseTokens: RESPONSE_TOKENS, evalVotes: 3, hintVotes: 3 },
        scalingJudgeMs: SLOW_JUDGE_MS,
        durability: DURABILITY,
        rounds,
      };
      if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
      else print(result);
    } finally {
      progress.stop();
    }
  });

type Result = {
  readonly turnsPerSecond: number;
  readonly scaling: Readonly<Record<string, number>>;
  readonly growth: number | null;
  readonly cpuMsPerTurn: Readonly<Record<string, number>>;
  readonly durability: string;
};

async function instantRounds(
  rounds: number,
  turns: number,
  nodeOptions: readonly string[],
  progress: Progress,
): Promise<{ turnsPerSecond: number; cpuMsPerTurn: Record<string, number> }> {
  const stage = await Stage.set({ root, judges: 1, judgeDelayMs: 0, nodeOptions, settings: {} });
  try {
    await stage.run(Math.min(WARM_UP_TURNS, turns)); // the first ones compile
    const runs: Run[] = [];
    for (let i = 0; i < rounds; i++) {
      runs.push(await stage.run(turns));
      progress.advance(`${rounded(runs.at(-1)!.turnsPerSecond)} turns/s`);
    }
    const names = Object.keys(runs[0]!.cpuMsPerTurn);
    const cpu = names.map((name) => [name, rounded(median(runs.map((run) => run.cpuMsPerTurn[name]!))!)] as const);
    return {
      turnsPerSecond: median(runs.map((run) => run.turnsPerSecond))!,
      cpuMsPerTurn: Object.fromEntries(cpu),
    };
  } finally {
    await stage.clear();
  }
}

async function scalingRounds(rounds: number, progress: Progress): Promise<{ replicas: number; rate: number }[]> {
  const rates = new Map<number, number[]>(REPLICAS.map((replicas) => [replicas, []]));
  for (let i = 0; i < rounds; i++) {
    // In turn within a round, so that whatever else happens on the machine happens to all of them.
    for (const replicas of REPLICAS) {
      const settings = { JUDGE_CONCURRENCY: String(SCALING_CONCURRENCY) };
      const stage = await Stage.set({ root, judges: replicas, judgeDelayMs: SLOW_JUDGE_MS, nodeOptions: [], settings });
      try {
        await stage.run(SCALING_WARM_UP_TURNS * replicas);
        const { turnsPerSecond } = await stage.run(SCALING_TURNS * replicas);
        rates.get(replicas)!.push(turnsPerSecond);
        progress.advance(`${replicas} judges: ${rounded(turnsPerSecond)} turns/s`);
      } finally {
        await stage.clear();
      }
    }
  }
  return REPLICAS.map((replicas) => ({ replicas, rate: median(rates.get(replicas)!)! }));
}

function print({ turnsPerSecond, scaling, growth, cpuMsPerTurn, durability }: Result): void {
  say();
  console.log(`${turnsPerSecond} turns/s are decided with an instant judge and teacher`);
  console.log('\nmilliseconds of CPU by turn');
  for (const [name, ms] of Object.entries(cpuMsPerTurn)) console.log(`  ${name.padEnd(14)} ${ms.toFixed(2)}`);
  if (growth !== null)
    console.log(`\nreplicas of judge-svc, a judge of ${SLOW_JUDGE_MS} ms by vote: turns/s (×${growth})`);
  const most = Math.max(...Object.values(scaling));
  for (const [replicas, rate] of Object.entries(scaling)) {
    console.log(`  ${replicas}  ${'█'.repeat(Math.round((40 * rate) / most))} ${rate}`);
  }
  console.log(`\n${durability}`);
}

const rounded = (value: number): number => Number(value.toFixed(2));
