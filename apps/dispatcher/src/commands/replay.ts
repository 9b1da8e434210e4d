import { createHash } from 'node:crypto';
import { HindcastError } from '@hindcast/contracts';
import { Command, Option } from 'commander';
import type { Database } from '../database';
import { commandConfig } from './command-config';
import { replayBytes } from './core/replay-bytes';
import { ReplayReport, type ReplaySummary } from './core/replay-report';
import { replayedTurn, type Replayed, type ReplaySettings } from './core/replayed-turn';
import { histogramLines } from './core/spread';
import { withLedger } from './open-ledger';
import { addRowFilter, anyNumber, dataDirOption, jsonOption, type RowFilter } from './options';
import { LineFile } from './output-file';
import { Progress, textTable, wholeNumber } from '@hindcast/platform/terminal';
import { recordingRange, recordings, type StoredRecording } from './read-recordings';
import type { Terminal } from './terminal';

interface Flags extends RowFilter {
  readonly method?: 'combine' | 'binary-rl' | 'opd' | 'none';
  readonly wRl?: number;
  readonly wOpd?: number;
  readonly maxStaleness?: number;
  readonly atLeastOne?: boolean;
  readonly hintAcceptance?: 'any' | 'majority';
  readonly quorum?: number;
  readonly feedbackReward?: 'override' | 'join';
  readonly outcomeMode?: 'outcome-plus-mean' | 'outcome-plus-step';
  readonly stepCoefficient?: number;
  readonly discount?: number;
  readonly standardise?: boolean;
  readonly out?: string;
  readonly json?: boolean;
  readonly dataDir?: string;
}

/** `npm run replay`: recorded turns decided again under other settings. Nothing is changed anywhere. */
export function replay(terminal: Terminal): Command {
  const command = new Command('replay').description(
    'Decides recorded turns again under other settings (votes, gate, advantage) and compares. What is not set stays as recorded. Changes nothing.',
  );
  const choice = (flags: string, about: string, choices: readonly string[]): Option =>
    new Option(flags, about).choices(choices);
  const number = (flags: string, about: string): Option => new Option(flags, about).argParser(anyNumber);
  command
    .addOption(choice('--method <name>', 'how turns train', ['combine', 'binary-rl', 'opd', 'none']))
    .addOption(number('--w-rl <w>', "weight of the reward (before: the trainer's W_RL, else 1)"))
    .addOption(number('--w-opd <w>', "weight of the teacher's signal (before: the trainer's W_OPD, else 1)"))
    .addOption(new Option('--max-staleness <n>', 'largest accepted lag in versions').argParser(wholeNumber(0)))
    .option(
      '--at-least-one',
      "binary-rl keeps one turn of a session without a score, where the session's samples were recorded",
    )
    .option('--no-at-least-one', 'and does not')
    .addOption(choice('--hint-acceptance <rule>', 'when votes make a hint', ['any', 'majority']))
    .addOption(new Option('--quorum <n>', 'readable votes needed, of either kind').argParser(wholeNumber(1)))
    .addOption(
      choice('--feedback-reward <rule>', "a person's reward replaces the votes or is one of them", [
        'override',
        'join',
      ]),
    )
    .addOption(
      choice('--outcome-mode <mode>', "how a session's outcome and its steps' scores make rewards", [
        'outcome-plus-mean',
        'outcome-plus-step',
      ]),
    )
    .addOption(number('--step-coefficient <c>', 'weight of the step scores against the outcome'))
    .addOption(number('--discount <g>', 'what the distance from the end takes off the outcome, in (0, 1]'))
    .option('--standardise', 'standardise the step scores within the session')
    .option('--no-standardise', 'and do not');
  return addRowFilter(command, 'turns')
    .option('--out <file>', 'also write each turn before and after to this file, a line of JSON each')
    .addOption(jsonOption())
    .addOption(dataDirOption())
    .action((flags: Flags) => run(terminal, flags));
}

async function run(terminal: Terminal, flags: Flags): Promise<void> {
  const config = commandConfig(terminal.env, flags.dataDir);
  if (flags.discount !== undefined && !(flags.discount > 0 && flags.discount <= 1))
    throw new HindcastError('invalid-request', `--discount ${flags.discount} is not in (0, 1]`);
  const before: ReplaySettings = { weights: config.signalWeights };
  const after = settingsOf(flags, before);
  const result = await withLedger(config.dispatcher, terminal, (database) =>
    compare(database, terminal, flags, before, after),
  );
  if (flags.json) terminal.print(JSON.stringify(result));
  else print(terminal, result);
}

interface Result extends ReplaySummary {
  /** SHA-256 over all decisions and advantages (core/replay-bytes.ts), before and after. */
  readonly digests: { readonly before: string; readonly after: string };
  readonly histograms: { readonly before: readonly number[]; readonly after: readonly number[] };
}

async function compare(
  database: Database,
  terminal: Terminal,
  flags: Flags,
  before: ReplaySettings,
  after: ReplaySettings,
): Promise<Result> {
  const report = new ReplayReport();
  const digests = { before: createHash('sha256'), after: createHash('sha256') };
  const range = await recordingRange(database, flags);
  const progress = new Progress(terminal, 'Replayed', range.count);
  const file = flags.out === undefined ? null : await LineFile.create(flags.out);
  try {
    for await (const stored of recordings(database, flags, range)) {
      const was = replayedTurn(stored.recording, before);
      const is = replayedTurn(stored.recording, after);
      const { turnId } = stored.recording;
      digests.before.update(replayBytes(turnId, was));
      digests.after.update(replayBytes(turnId, is));
      report.add(was, is, isAsRecorded(stored, was));
      await file?.write(JSON.stringify({ turnId, tenant: stored.tenant, before: shown(was), after: shown(is) }));
      progress.advance();
    }
    await file?.finish();
  } catch (error) {
    await file?.abandon();
    throw error;
  } finally {
    progress.stop();
  }
  return {
    ...report.summary(),
    digests: { before: digests.before.digest('hex'), after: digests.after.digest('hex') },
    histograms: { before: report.before.advantage.histogram(), after: report.after.advantage.histogram() },
  };
}

/** A forgotten or a pruned decision says nothing against the recording. */
const isAsRecorded = ({ decided }: StoredRecording, { decision }: Replayed): boolean =>
  decided === null ||
  (decided.case === decision.case && decided.reward === decision.reward && decided.reason === decision.reason);

const shown = ({ decision, advantages }: Replayed) => {
  const { sample: _, ...verdict } = decision;
  return { ...verdict, advantages: Array.from(advantages) };
};

function settingsOf(flags: Flags, before: ReplaySettings): ReplaySettings {
  const given = <T extends object>(values: T): Partial<T> | undefined => {
    const present = Object.entries(values).filter(([, value]) => value !== undefined);
    return present.length === 0 ? undefined : (Object.fromEntries(present) as Partial<T>);
  };
  const { method, maxStaleness, atLeastOne, hintAcceptance, quorum, feedbackReward } = flags;
  const rule = given({ method, maxStaleness, atLeastOne }) as ReplaySettings['rule'];
  const { outcomeMode: mode, stepCoefficient: coefficient, discount, standardise } = flags;
  const session = given({ mode, coefficient, discount, standardise }) as ReplaySettings['session'];
  return {
    weights: { rl: flags.wRl ?? before.weights.rl, opd: flags.wOpd ?? before.weights.opd },
    ...(rule && { rule }),
    ...(session && { session }),
    ...(hintAcceptance && { hintAcceptance }),
    ...(quorum && { quorum }),
    ...(feedbackReward && { feedbackReward }),
  };
}

function print(terminal: Terminal, result: Result): void {
  const { before, after } = result;
  if (result.turns === 0) return terminal.print('There are no recorded turns that the filter lets through.');
  const counts = (was: Readonly<Record<string, number>>, is: Readonly<Record<string, number>>): string[][] =>
    [...new Set([...Object.keys(was), ...Object.keys(is)])]
      .sort()
      .map((key) => [key, String(was[key] ?? 0), String(is[key] ?? 0)]);
  const table = (heading: string, rows: string[][]): void => {
    if (rows.length > 0) terminal.print(`${textTable([heading, 'before', 'after'], rows, terminal.width)}\n`);
  };
  table('case', counts(before.cases, after.cases));
  table('reason', counts(before.reasons, after.reasons));
  const signals = (['rl', 'opd', 'advantage'] as const).map((name) => [
    name,
    spreadText(before.tokens[name]),
    spreadText(after.tokens[name]),
  ]);
  table('per token', signals);
  for (const line of histogramLines(result.histograms.before, result.histograms.after)) terminal.print(line);
  terminal.print(`\n${result.changed} of ${result.turns} turns are decided otherwise.`);
  for (const [change, number] of Object.entries(result.changes))
    terminal.print(`  ${String(number).padStart(6)}  ${change}`);
  if (result.unlikeLedger > 0)
    terminal.say(`${result.unlikeLedger} recordings do not give the decision that the ledger holds.`);
  terminal.print(`\ndigest before  ${result.digests.before}\ndigest after   ${result.digests.after}`);
}

const spreadText = (spread: { count: number; mean: number; std: number } | null): string =>
  spread === null ? '-' : `${spread.mean.toFixed(4)} ± ${spread.std.toFixed(4)} (${spread.count})`;
