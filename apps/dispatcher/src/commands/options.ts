import { wholeNumber } from '@hindcast/platform/terminal';
import { InvalidArgumentError, Option, type Command } from 'commander';

/** Which rows of the ledger a command reads. */
export interface RowFilter {
  readonly tenant?: string;
  /** HMAC of the session, as the ledger knows it. */
  readonly session?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly limit?: number;
}

export function anyNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('a number');
  return value;
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time as ISO 8601 (`2026-11-30`, `2026-11-30T12:00Z`; without a zone: this machine's), or how long ago: `90m`, `24h`, `7d`. */
export function momentOf(text: string, now: number): Date {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const time = count === undefined ? Date.parse(text) : now - Number(count) * UNITS[unit!]!;
  if (!Number.isFinite(time))
    throw new InvalidArgumentError('a time such as 2026-11-30T12:00Z, or how long ago, such as 24h');
  return new Date(time);
}

const moment = (text: string): Date => momentOf(text, Date.now());

export const jsonOption = (): Option => new Option('--json', 'print JSON');
export const dataDirOption = (): Option =>
  new Option('--data-dir <folder>', "the dispatcher's DATA_DIR (default: DATA_DIR, else what npm start uses)");

/** `--tenant --session --since --until --limit`. */
export function addRowFilter(command: Command, what: string): Command {
  return command
    .option('--tenant <name>', `${what} of this tenant only`)
    .option('--session <id>', `${what} of this session only: its id as exports and the ledger show it`)
    .addOption(
      new Option('--since <time>', `${what} from then on: a time, or how long ago, such as 24h`).argParser(moment),
    )
    .addOption(new Option('--until <time>', `${what} before then`).argParser(moment))
    .addOption(new Option('--limit <n>', `the first n ${what} only`).argParser(wholeNumber(1)));
}
