import { Command } from 'commander';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { DemoReport } from '../core/report';
import { addDemoFlags, type DemoFlags } from '../options';
import { say } from '../progress';
import { printReport, runDemo } from '../run-demo';
import { root, withStack } from '../start-stack';

interface Flags extends DemoFlags {
  readonly report?: string;
  readonly dataDir?: string;
}

export const demo = addDemoFlags(
  new Command('demo').description(
    'Simulated users talk to a fresh model through the gateway, which learns from them; then everything stops.',
  ),
  { sessions: 40 },
)
  .option('--report <file>', 'write the report as JSON')
  .option('--data-dir <folder>', 'where everything is written, emptied first (default: .data/demo-…)')
  .action(async (flags: Flags) => {
    const report = await oneDemo(flags, flags.dataDir);
    printReport(report);
    if (flags.report !== undefined) {
      mkdirSync(dirname(resolve(flags.report)), { recursive: true });
      writeFileSync(flags.report, `${JSON.stringify(report, null, 2)}\n`);
      say(`  report                           ${flags.report}`);
    }
  });

/** One demo in a data folder of its own, from an empty ledger and the seed model. */
export async function oneDemo(flags: DemoFlags, dataDir?: string): Promise<DemoReport> {
  const { method, persona, feedback, seed, sessions } = flags;
  const folder = resolve(dataDir ?? join(root, '.data', `demo-${method}-${persona}-${feedback}-${seed}`));
  emptyDataFolder(folder);
  return withStack(
    { dataDir: folder, ports: 'any', method, feedback, seed, environmentWins: false, settings: flags.set },
    (stack) => runDemo(stack, { sessions, persona, feedback, method, seed }, flags.patience * 1000),
  );
}

/** Marks a folder as one that a demo may empty. */
const MARK = '.hindcast-demo';

function emptyDataFolder(folder: string): void {
  if (existsSync(folder)) {
    if (!existsSync(join(folder, MARK)))
      throw new Error(`${folder} exists and was not made by a demo; name another --data-dir`);
    rmSync(folder, { recursive: true });
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, MARK), '');
}
