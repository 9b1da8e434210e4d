// The loss against a file of reference numbers: `npm run check:loss -- FILE [--json] [--backend cpu]`.
import { readFile } from 'node:fs/promises';
import { HindcastError } from '@hindcast/contracts';
import { Command, CommanderError, Option } from 'commander';
import { BACKENDS, chooseBackend, type BackendName } from '../backends/choose-backend';
import { compareCase, worstOf, type LossDifference } from './loss-comparison';
import { parseVectors, unknownOptions } from './loss-vectors';

/** What float32 leaves of sums and gradients of a few units. */
export const TOLERANCE = 2e-6;

export interface LossReport extends LossDifference {
  readonly cases: number;
  readonly samples: number;
  readonly backend: string;
  readonly tolerance: number;
  /** Options in the file that this loss does not have. */
  readonly ignoredOptions: readonly string[];
  /** Loss and gradient are within the tolerance. */
  readonly ok: boolean;
}

/** @throws HindcastError for a file that cannot be read or is not of the form */
export async function checkLoss(file: string, backendName: BackendName): Promise<LossReport> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new HindcastError('invalid-request', `${file} cannot be read: ${cause.code ?? cause.message}`, { cause });
  });
  const vectors = parseVectors(text);
  const { backend } = await chooseBackend(backendName, 1);
  try {
    const differences: LossDifference[] = [];
    for (const vector of vectors) differences.push(await compareCase(backend, vector));
    const worst = worstOf(differences);
    return {
      ...worst,
      cases: vectors.length,
      samples: vectors.reduce((sum, { samples }) => sum + samples.length, 0),
      backend: backend.name,
      tolerance: TOLERANCE,
      ignoredOptions: unknownOptions(vectors),
      ok: worst.loss <= TOLERANCE && worst.gradient <= TOLERANCE,
    };
  } finally {
    await backend.dispose();
  }
}

export interface Output {
  readonly print: (text: string) => void;
  readonly say: (line: string) => void;
}

/** Exit code: 0 within the tolerance, 1 beyond it, 2 for a wrong command or file. */
export async function runCheckLoss(args: readonly string[], { print, say }: Output): Promise<number> {
  const command = new Command('npm run check:loss --')
    .description(
      "Computes loss and gradient of every case with the trainer's own functions and prints the largest absolute differences.",
    )
    .argument('<file>', 'JSON in the form of the combined-loss vectors of the reference')
    .addOption(new Option('--backend <name>', 'what runs the functions').choices(BACKENDS).default('cpu'))
    .option('--json', 'one JSON document')
    .exitOverride()
    .configureOutput({ writeOut: (text) => print(text.trimEnd()), writeErr: (text) => say(text.trimEnd()) });
  try {
    command.parse([...args], { from: 'user' });
    const { backend, json } = command.opts<{ backend: BackendName; json?: boolean }>();
    const report = await checkLoss(command.args[0]!, backend);
    if (report.ignoredOptions.length > 0)
      say(`Options that this loss does not have: ${report.ignoredOptions.join(', ')}`);
    if (json) print(JSON.stringify(report));
    else printReport(report, print);
    return report.ok ? 0 : 1;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof HindcastError)) throw error;
    say(error.message);
    return 2;
  }
}

function printReport(report: LossReport, print: (text: string) => void): void {
  const lines = [
    `${report.cases} cases, ${report.samples} samples, on ${report.backend}; largest absolute differences:`,
    ...[
      ['loss', report.loss] as const,
      ['gradient', report.gradient] as const,
      ...Object.entries(report.metrics)
        .filter(([name]) => name !== 'loss')
        .map(([name, value]) => [`metric ${name}`, value] as const),
    ].map(([name, value]) => `  ${name.padEnd(40)} ${value.toExponential(2)}`),
    report.ok ? `Loss and gradient are within ${report.tolerance}.` : `Loss or gradient is beyond ${report.tolerance}.`,
  ];
  print(lines.join('\n'));
}

if (require.main === module) {
  void runCheckLoss(process.argv.slice(2), {
    print: (text) => void process.stdout.write(`${text}\n`),
    say: (line) => void process.stderr.write(`${line}\n`),
  }).then((code) => {
    process.exitCode = code;
  });
}
