import { join } from 'node:path';
import { Command, Option } from 'commander';
import { commandConfig } from './command-config';
import { writeJsonLines, writeParquet } from './export-files';
import { conversations, exportRows, samples, type ExportFilter } from './export-rows';
import { withLedger } from './open-ledger';
import { addRowFilter, dataDirOption } from './options';
import { Progress } from '@hindcast/platform/terminal';
import { recordingRange } from './read-recordings';
import type { Terminal } from './terminal';

interface Flags extends ExportFilter {
  readonly what: 'samples' | 'conversations';
  readonly format: 'jsonl' | 'parquet';
  readonly out: string;
  readonly dataDir?: string;
}

/** `npm run export`: samples or conversations of the recorded turns as files. */
export function exportCommand(terminal: Terminal): Command {
  const command = new Command('export')
    .description(
      'Writes the samples or the conversations of recorded turns to a file. Prints one line of JSON with the file and its counts at the end.',
    )
    .addOption(
      new Option('--what <what>', 'samples: ids, log-probs, reward; conversations: messages and answer')
        .choices(['samples', 'conversations'])
        .default('samples'),
    )
    .addOption(new Option('--format <format>', 'of the file').choices(['jsonl', 'parquet']).default('jsonl'))
    .option('--out <folder>', 'where the file goes; one of the same name is replaced', 'export');
  return addRowFilter(command, 'recordings')
    .addOption(new Option('--case <case...>', 'rows of these cases only').choices(['opdRl', 'opd', 'rl', 'drop']))
    .addOption(dataDirOption())
    .action((flags: Flags) => run(terminal, flags));
}

async function run(terminal: Terminal, flags: Flags): Promise<void> {
  const { dispatcher } = commandConfig(terminal.env, flags.dataDir);
  const what = { samples, conversations }[flags.what];
  const write = { jsonl: writeJsonLines, parquet: writeParquet }[flags.format];
  const file = join(flags.out, `${flags.what}.${flags.format}`);
  const manifest = await withLedger(dispatcher, terminal, async (database) => {
    const range = await recordingRange(database, flags);
    const progress = new Progress(terminal, 'Exported', range.count);
    const cases: Record<string, number> = {};
    try {
      const rows = counted(
        exportRows(database, flags, what, range, () => progress.advance()),
        cases,
      );
      return {
        file,
        what: flags.what,
        format: flags.format,
        rows: await write(file, what.columns, rows),
        cases,
        recordings: range.count,
      };
    } finally {
      progress.stop();
    }
  });
  terminal.print(JSON.stringify(manifest));
}

async function* counted<Row extends Readonly<Record<string, unknown>>>(
  rows: AsyncIterable<Row>,
  cases: Record<string, number>,
): AsyncGenerator<Row> {
  for await (const row of rows) {
    const name = String(row['case']);
    cases[name] = (cases[name] ?? 0) + 1;
    yield row;
  }
}
