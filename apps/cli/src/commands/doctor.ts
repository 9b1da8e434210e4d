import { join } from 'node:path';
import { painter, Progress, type Terminal } from '@hindcast/platform/terminal';
import { Command } from 'commander';
import { countGrades } from '../doctor/core/finding';
import { reportLines } from '../doctor/core/report-view';
import { examine } from '../doctor/examine';
import { addGatewayOptions, gatewayOf, type GatewayFlags } from '../gateway-options';
import type { Launch } from '../other-programs';
import { root } from '../root';
import type { Screen } from '../screen';
import { Unsound } from '../unsound';

/** Parts that an examination says the end of. */
const PARTS = 9;

interface Flags extends GatewayFlags {
  readonly envFile?: string;
  readonly dataDir?: string;
}

/** `hindcast doctor`: what is wrong with a set-up, and how to mend it. Ends with 1 when something is. */
export const doctor = (terminal: Terminal, screen: Screen, launch: Launch = (entry) => [join(root, entry)]): Command =>
  addGatewayOptions(
    new Command('doctor').description(
      'check node, broker, database, engine, tokenizer, teacher, judge, keys, disk and services; say how to mend each',
    ),
  )
    .option(
      '--env-file <file>',
      "the services' variables (default: what npm start wrote down); one that is set already wins",
    )
    .option('--data-dir <folder>', "the services' DATA_DIR (default: DATA_DIR, else what npm start uses)")
    .action(async (flags: Flags) => {
      const progress = terminal.bars ? new Progress(terminal, 'Looking', PARTS) : null;
      try {
        const { envFile, dataDir } = flags;
        const findings = await examine({
          env: terminal.env,
          ...(envFile !== undefined && { envFile }),
          ...(dataDir !== undefined && { dataDir }),
          gateway: gatewayOf(terminal.env, flags),
          launch,
          onDone: () => progress?.advance(),
        });
        progress?.stop();
        const isSound = countGrades(findings).fault === 0;
        if (flags.json) terminal.print(JSON.stringify({ ok: isSound, findings }));
        else terminal.print(reportLines(findings, painter(screen.isTerminal, terminal.env)).join('\n'));
        if (!isSound) throw new Unsound();
      } finally {
        progress?.stop();
      }
    });
