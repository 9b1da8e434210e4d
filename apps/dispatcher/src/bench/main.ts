// How fast the ledger's lists are: `npm run bench:ledger -- [--turns N] [--json]`. docs/ledger.md says what is measured.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Log } from '@hindcast/platform';
import { processTerminal, textTable, wholeNumber, withProgress, type Terminal } from '@hindcast/platform/terminal';
import { Command } from 'commander';
import { Client } from 'pg';
import { readConfig } from '../config';
import { Database } from '../database';
import { EmbeddedPostgres } from '../embedded-postgres';
import { fill, finish } from './fill';
import { questionsOf, type Question } from './questions';

interface Options {
  readonly turns: number;
  readonly rounds: number;
  readonly json?: boolean;
  readonly keep?: string;
}

interface Measured {
  readonly question: string;
  /** Rows of the answer; of an overview: turns. */
  readonly rows: number;
  readonly medianMs: number;
  readonly p95Ms: number;
}

/** What each list is to answer within at the median, milliseconds. */
const LIMIT_MS = 200;

function options(): Options {
  return new Command('bench:ledger')
    .description(
      'Fills a PostgreSQL of its own with turns, votes, texts, samples and steps, and asks what the dashboard asks: medians and 95th percentiles.',
    )
    .option('--turns <n>', 'turns in the ledger', wholeNumber(1), 1_000_000)
    .option('--rounds <n>', 'times that each question is asked', wholeNumber(1), 30)
    .option('--keep <folder>', 'leave the filled ledger there, or use the one that is there')
    .option('--json', 'print one JSON object')
    .parse()
    .opts<Options>();
}

async function main(): Promise<void> {
  const { turns, rounds, keep, json } = options();
  const terminal = processTerminal(process.env);
  const folder = keep ?? (await mkdtemp(path.join(os.tmpdir(), 'hindcast-bench-')));
  const server = new EmbeddedPostgres(folder, () => undefined);
  const url = await server.open();
  const database = new Database(readConfig({ DATABASE_URL: url }), new Log('bench', 'silent'));
  try {
    await database.open();
    const filled = await filledLedger(terminal, url, turns);
    const measured = await measure(terminal, await questionsOf(database, filled.session), rounds);
    const slow = measured.filter(({ medianMs }) => medianMs >= LIMIT_MS);
    const report = { turns: filled.turns, megabytes: filled.megabytes, rounds, limitMs: LIMIT_MS, measured };
    terminal.print(json ? JSON.stringify(report) : tableOf(report, terminal));
    if (slow.length > 0) {
      terminal.say(`Slower than ${LIMIT_MS} ms at the median: ${slow.map(({ question }) => question).join('; ')}.`);
      process.exitCode = 1;
    }
  } finally {
    await database.onApplicationShutdown();
    await server.leave();
    if (keep === undefined) await rm(folder, { recursive: true, force: true });
  }
}

async function filledLedger(
  terminal: Terminal,
  url: string,
  wanted: number,
): Promise<{ turns: number; megabytes: number; session: string }> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: before } = await client.query<{ turns: number }>('SELECT count(*)::int AS turns FROM turns');
    if (before[0]!.turns === 0) {
      await withProgress(terminal, 'Turns', wanted, (onDone) => fill(client, wanted, onDone));
      terminal.say('Index of words, counts, statistics …');
      await finish(client);
    }
    const { rows } = await client.query<{ turns: number; megabytes: number; session: string }>(
      `SELECT count(*)::int AS turns, pg_database_size(current_database()) / 1000000.0::float8 AS megabytes,
        min("sessionId") AS session FROM turns`,
    );
    return rows[0]!;
  } finally {
    await client.end();
  }
}

async function measure(terminal: Terminal, questions: readonly Question[], rounds: number): Promise<Measured[]> {
  return withProgress(terminal, 'Questions', questions.length * rounds, async (onDone) => {
    const times = questions.map(() => [] as number[]);
    const rows = questions.map(() => 0);
    // Round by round: what keeps the machine busy for a while slows a little of each question down, not all of one.
    for (let round = 0; round < rounds; round++)
      for (const [index, question] of questions.entries()) {
        const start = performance.now();
        rows[index] = await question.ask();
        times[index]!.push(performance.now() - start);
        onDone(1);
      }
    return questions.map(({ name }, index) => {
      const sorted = times[index]!.sort((a, b) => a - b);
      const at = (share: number): number => Number(sorted[Math.ceil(share * sorted.length) - 1]!.toFixed(1));
      return { question: name, rows: rows[index]!, medianMs: at(0.5), p95Ms: at(0.95) };
    });
  });
}

function tableOf(
  { turns, megabytes, rounds, measured }: { turns: number; megabytes: number; rounds: number; measured: Measured[] },
  terminal: Terminal,
): string {
  const cells = measured.map((one) => [one.question, String(one.rows), one.medianMs.toFixed(1), one.p95Ms.toFixed(1)]);
  const title = `${turns} turns, ${Math.round(megabytes)} MB, each question ${rounds} times`;
  return `${title}\n${textTable(['question', 'rows', 'median ms', 'p95 ms'], cells, terminal.width)}`;
}

void main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
