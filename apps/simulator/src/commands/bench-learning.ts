import { personas } from '@hindcast/seed-world';
import { wholeNumber } from '@hindcast/platform/terminal';
import { Command, InvalidArgumentError, Option } from 'commander';
import { median } from '../core/learning-curve';
import type { DemoReport, Method } from '../core/report';
import { feedbackKinds, type Feedback } from '../core/user';
import { methods, setOption } from '../options';
import { say } from '../progress';
import { percent } from '../core/report-lines';
import { oneDemo } from './demo';

interface Flags {
  readonly seeds: number[];
  readonly sessions: number;
  readonly methods: Method[];
  readonly feedback: Feedback;
  readonly set: Readonly<Record<string, string>>;
  readonly json?: boolean;
}

const list =
  <T>(item: (text: string) => T) =>
  (text: string): T[] =>
    text.split(',').map((part) => item(part.trim()));

function method(text: string): Method {
  const found = methods.find((name) => name === text);
  if (!found) throw new InvalidArgumentError(`one of ${methods.join(', ')}`);
  return found;
}

export const benchLearning = new Command('bench-learning')
  .description('Runs the demo for every seed, persona and method, one after the other, and prints medians.')
  .addOption(
    new Option('--seeds <list>', 'comma-separated').argParser(list(wholeNumber(0))).default([1, 2, 3], '1,2,3'),
  )
  .addOption(new Option('--sessions <n>', 'sessions per run').argParser(wholeNumber(1)).default(40))
  .addOption(
    new Option('--methods <list>', 'comma-separated')
      .argParser(list(method))
      .default(['combine', 'none'] as Method[], 'combine,none'),
  )
  .addOption(new Option('--feedback <kind>', 'how openly users complain').choices(feedbackKinds).default('mixed'))
  .addOption(setOption())
  .option('--json', 'print the runs and medians as JSON on standard output')
  .action(async (flags: Flags) => {
    const runs: DemoReport[] = [];
    for (const name of flags.methods) {
      for (const persona of personas) {
        for (const seed of flags.seeds) {
          say(`\n${name}, ${persona}, seed ${seed}`);
          const report = await oneDemo({
            method: name,
            persona,
            seed,
            feedback: flags.feedback,
            sessions: flags.sessions,
            patience: 600,
            set: flags.set,
          });
          runs.push(report);
          say(
            `rule ${percent(report.heldOut.before)} → ${percent(report.heldOut.after)}, form ${percent(report.wellFormed.after)}, ${report.versions} versions`,
          );
        }
      }
    }
    const medians = flags.methods.map((name) =>
      summary(
        name,
        runs.filter((run) => run.method === name),
      ),
    );
    if (flags.json) process.stdout.write(`${JSON.stringify({ medians, runs }, null, 2)}\n`);
    else for (const row of medians) process.stdout.write(`${JSON.stringify(row)}\n`);
  });

/** Medians over the runs of one method. A run that never got there took more sessions than any that did; `null` when half did not. */
function summary(name: Method, runs: readonly DemoReport[]): object {
  const over = (value: (run: DemoReport) => number): number | null => median(runs.map(value));
  const sessions = (value: (run: DemoReport) => number | null): number | null => {
    const middle = median(runs.map((run) => value(run) ?? Number.POSITIVE_INFINITY));
    return middle === null || Number.isFinite(middle) ? middle : null;
  };
  return {
    method: name,
    runs: runs.length,
    heldOut: { before: over((run) => run.heldOut.before), after: over((run) => run.heldOut.after) },
    wellFormed: { before: over((run) => run.wellFormed.before), after: over((run) => run.wellFormed.after) },
    klPerAnswer: over((run) => run.klPerAnswer),
    versions: over((run) => run.versions),
    cases: Object.fromEntries(
      (['opdRl', 'opd', 'rl', 'drop'] as const).map((key) => [key, runs.reduce((sum, run) => sum + run.cases[key], 0)]),
    ),
    reached: {
      threeInARow: runs.filter((run) => run.sessionsTo.threeInARow !== null).length,
      eightOfTen: runs.filter((run) => run.sessionsTo.eightOfTen !== null).length,
    },
    sessionsTo: {
      threeInARow: sessions((run) => run.sessionsTo.threeInARow),
      eightOfTen: sessions((run) => run.sessionsTo.eightOfTen),
    },
  };
}
