import { brokerOf } from '@hindcast/platform';
import { Command } from 'commander';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Database } from '../database';
import { commandConfig, type CommandConfig } from './command-config';
import { findAnnounced, forgetMessages, lastMessage, type BrokerCounts } from './forget-broker';
import { countRows, findTurns, forgetRows, type LedgerCounts } from './forget-ledger';
import { forgetOpenTurns } from './forget-open-turns';
import { lineageOf, storeTombstone, tombstonesOf, type Lineage, type Tombstone } from './forget-record';
import { forgetSpool } from './forget-spool';
import { forgetTarget, type ForgetFlags, type ForgetTarget } from './forget-target';
import { withBroker } from './open-broker';
import { withLedger } from './open-ledger';
import { dataDirOption, jsonOption } from './options';
import { counted, withProgress } from '@hindcast/platform/terminal';
import { ask, type Terminal } from './terminal';

interface Flags extends ForgetFlags {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly dataDir?: string;
}

/** What a request to forget has deleted, or would delete. */
interface Forgotten {
  readonly isDryRun: boolean;
  readonly turns: number;
  readonly rows: LedgerCounts;
  readonly broker: BrokerCounts & { readonly openTurns: number };
  /** Operations of a gateway on this machine; `null`: no spool is here. */
  readonly spooled: number | null;
  readonly trained: Lineage;
  readonly before: readonly Pick<Tombstone, 'at' | 'versions'>[];
  readonly notes: readonly string[];
}

/** `npm run forget`: deletes everything of a session, a user, a turn or a tenant. */
export function forget(terminal: Terminal): Command {
  return new Command('forget')
    .description(
      'Deletes everything of a session, user, turn or tenant: ledger, messages, captures, feedback, open turns, spool. Says which policy versions were trained on it.',
    )
    .option('--session <id>', "a session: the client's own id for it, or the id that exports show")
    .option('--user <id>', "a user: what the client's requests have as `user`, or the id that exports show")
    .option('--turn <id>', 'one turn')
    .option(
      '--tenant <name>',
      "the session's or user's tenant (default for a client's own id: default); alone: the whole tenant",
    )
    .option('--dry-run', 'only count')
    .option('--yes', 'without asking')
    .addOption(jsonOption())
    .addOption(dataDirOption())
    .action((flags: Flags) => run(terminal, flags));
}

async function run(terminal: Terminal, flags: Flags): Promise<void> {
  const config = commandConfig(terminal.env, flags.dataDir);
  const target = forgetTarget(flags, {
    SESSION_SECRET: config.sessionSecret,
    DATA_DIR: config.dispatcher.DATA_DIR,
  });
  const result = await withBroker(brokerOf(config.dispatcher), terminal, (connection) =>
    withLedger(config.dispatcher, terminal, async (database) => {
      const before = await find(connection, database, target);
      if (!flags.dryRun) await agreed(terminal, flags, target);
      return {
        ...(await forgetTargets(connection, database, target, config, terminal, flags.dryRun ?? false)),
        before: before.map(({ at, versions }) => ({ at, versions })),
      };
    }),
  );
  if (flags.json) terminal.print(JSON.stringify(result));
  else print(terminal, result);
}

/** Everything that the ledger, the gateways' records and the announcements know of the target. */
async function find(
  connection: NatsConnection,
  database: Database,
  target: ForgetTarget,
): Promise<readonly Tombstone[]> {
  const before = await tombstonesOf(database, target);
  await findTurns(database, target);
  for (const { underWay } of before) for (const turnId of underWay) target.turnIds.add(turnId);
  await forgetOpenTurns(connection, target, true);
  await findAnnounced(connection, target);
  return before;
}

async function agreed(terminal: Terminal, flags: Flags, { turnIds, selector, tenant }: ForgetTarget): Promise<void> {
  const what = selector === 'tenant' ? `tenant ${tenant}` : `this ${selector}`;
  await ask(terminal, `Delete ${counted(turnIds.size, 'turn')} of ${what} for good?`, flags.yes ?? false);
}

/**
 * The broker first, since the ledger is what a run that was interrupted finds its turns by; then the ledger, which ends what had not
 * ended; then the broker again, for what was under way meanwhile.
 */
async function forgetTargets(
  connection: NatsConnection,
  database: Database,
  target: ForgetTarget,
  config: CommandConfig,
  terminal: Terminal,
  isDryRun: boolean,
): Promise<Omit<Forgotten, 'before'>> {
  const openTurns = await forgetOpenTurns(connection, target, isDryRun);
  const spooled = await forgetSpool(config.spoolDir, target, isDryRun);
  const trained = await lineageOf(database, [...target.turnIds]);
  const last = await lastMessage(connection);
  const broker = await forgetMessages(connection, target, { isDryRun, from: 1, terminal });
  const { counts: rows, underWay } = isDryRun
    ? { counts: await countRows(database, target), underWay: [] }
    : await withProgress(terminal, 'Turns forgotten', target.turnIds.size, (onDone) =>
        forgetRows(database, target, config.dispatcher.METHOD, onDone),
      );
  const late = isDryRun ? null : await forgetLate(connection, target, last, terminal);
  const deleted = { ...sum(broker, late), openTurns };
  const isAnything = [...Object.values(rows), ...Object.values(deleted), spooled ?? 0].some((count) => count > 0);
  if (!isDryRun && isAnything)
    await storeTombstone(
      database,
      target,
      { ...rows, ...deleted, underWay },
      trained.versions.map(({ version }) => version),
    );
  return { isDryRun, turns: rows.turns, rows, broker: deleted, spooled, trained, notes: notesOf(spooled, trained) };
}

async function forgetLate(
  connection: NatsConnection,
  target: ForgetTarget,
  last: number,
  terminal: Terminal,
): Promise<BrokerCounts> {
  await findAnnounced(connection, target, last + 1);
  return forgetMessages(connection, target, { isDryRun: false, from: last + 1, terminal });
}

const sum = (first: BrokerCounts, second: BrokerCounts | null): BrokerCounts => ({
  messages: first.messages + (second?.messages ?? 0),
  deadLetters: first.deadLetters + (second?.deadLetters ?? 0),
  captures: first.captures + (second?.captures ?? 0),
  feedback: first.feedback + (second?.feedback ?? 0),
  topK: first.topK + (second?.topK ?? 0),
});

function notesOf(spooled: number | null, { versions, inheritedBy, atTrainer }: Lineage): string[] {
  return [
    ...(atTrainer > 0
      ? [
          `${atTrainer} samples were published already: a trainer that holds them may still train them; run this again after its next step to see in which version`,
        ]
      : []),
    ...(spooled === null
      ? [
          "no gateway's spool is on this machine; what gateways elsewhere hold back is deleted by running this again once they have sent it",
        ]
      : []),
    'exports that were written before and the files of other programs are not reached',
    ...(versions.length > 0
      ? [
          `weights cannot be taken back: ${versions.length + inheritedBy.length} versions hold what was learnt; go back to one before them, or train anew without these turns`,
        ]
      : []),
  ];
}

function print(terminal: Terminal, { isDryRun, rows, broker, spooled, trained, before, notes }: Forgotten): void {
  const counts = { ...rows, ...broker, ...(spooled === null ? {} : { spooled }) };
  const found = Object.entries(counts).filter(([, count]) => count > 0);
  if (found.length === 0) terminal.print('Nothing is left of it.');
  else terminal.print(isDryRun ? 'Would be deleted:' : 'Deleted:');
  for (const [name, count] of found) terminal.print(`  ${String(count).padStart(8)}  ${name}`);
  const versions = [
    ...new Set([
      ...before.flatMap((tombstone) => tombstone.versions),
      ...trained.versions.map(({ version }) => version),
    ]),
  ];
  terminal.print(
    versions.length === 0
      ? 'No policy version was trained on it.'
      : `Policy versions trained on it: ${versions.join(', ')}`,
  );
  if (trained.inheritedBy.length > 0)
    terminal.print(`Later versions built on those: ${trained.inheritedBy.join(', ')}`);
  for (const { at } of before) terminal.print(`Forgotten before, at ${at.toISOString()}.`);
  for (const note of notes) terminal.say(`Note: ${note}.`);
}
