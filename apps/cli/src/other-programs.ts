import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { join } from 'node:path';
import { root } from './root';
import { gatewayUrl } from './written-settings';

/** A command that another app has: it is run as it is, with everything that was typed after its name. */
export interface OtherProgram {
  readonly name: string;
  /** Built file, from the repository on. */
  readonly entry: string;
  /** What names the command within that program. */
  readonly words: readonly string[];
  readonly description: string;
}

const simulator = (name: string, description: string): OtherProgram => ({
  name,
  entry: 'apps/simulator/dist/main.js',
  words: [name],
  description,
});
const ledger = (name: string, description: string): OtherProgram => ({
  name,
  entry: 'apps/dispatcher/dist/commands/main.js',
  words: [name],
  description,
});

export const otherPrograms: readonly OtherProgram[] = [
  simulator('up', 'start everything on this machine and keep serving (npm start)'),
  simulator('demo', 'simulated users teach a fresh model, then everything stops'),
  simulator('simulate', 'simulated users talk to a gateway that runs'),
  simulator('evaluate', "answer a demo's held-out questions again and compare with its report"),
  {
    name: 'policy',
    entry: 'apps/trainer/dist/commands/policy/main.js',
    words: [],
    description: "the policy's versions: list, show, diff, roll back, export merged",
  },
  ledger('deadletters', 'messages that failed for good: list, show, replay, discard'),
  ledger('replay', 'decide recorded turns again under other settings, and compare'),
  ledger('export', 'write samples or conversations as JSON lines or Parquet'),
  ledger('forget', 'delete everything of a session, a user, a turn or a tenant'),
  ledger('judge:agreement', "compare the judge's scores with what people said"),
  ledger('migrate', "bring the ledger's tables up to this version"),
];

/** How Node runs an entry: options and file. */
export type Launch = (entry: string) => readonly string[];
const built: Launch = (entry) => [join(root, entry)];

/**
 * Runs it with this process's terminal, in the repository's folder as the npm scripts do, and returns its exit code; that of a
 * program which a signal ended is 128 + the signal's number.
 */
export async function runOtherProgram(
  program: OtherProgram,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  launch: Launch = built,
): Promise<number> {
  const child = spawn(process.execPath, [...launch(program.entry), ...program.words, ...args], {
    // Its help is to go by the name that was typed.
    argv0: 'hindcast',
    cwd: root,
    env: { ...env, HINDCAST_URL: env['HINDCAST_URL'] || gatewayUrl(env) },
    stdio: 'inherit',
  });
  // A terminal sends Ctrl-C to the whole group; a `kill` reaches only this process and is passed on.
  const listeners = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => {
    const listener = (): void => void (signal !== 'SIGINT' && child.kill(signal));
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return signal === null ? (code ?? 1) : 128 + constants.signals[signal];
  } finally {
    for (const stop of listeners) stop();
  }
}
