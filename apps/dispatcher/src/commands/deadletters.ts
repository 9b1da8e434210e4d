import { HindcastError } from '@hindcast/contracts';
import { brokerOf } from '@hindcast/platform';
import { Progress, counted, textTable, wholeNumber } from '@hindcast/platform/terminal';
import type { NatsConnection } from '@nats-io/transport-node';
import { Command } from 'commander';
import { commandConfig } from './command-config';
import { decodedPayload, shortenedValue } from './core/payload-view';
import {
  DeadLetterBox,
  concernedTurn,
  failedSubject,
  failingSubjects,
  type LetterFilter,
  type StoredLetter,
} from './dead-letter-box';
import { withBroker } from './open-broker';
import { withLedger } from './open-ledger';
import { dataDirOption, jsonOption } from './options';
import { payloadOf, replayLetter, type Replayed } from './replay-letter';
import { ask, type Terminal } from './terminal';

interface CommonFlags extends LetterFilter {
  readonly json?: boolean;
  readonly dataDir?: string;
}
interface ChosenFlags extends CommonFlags {
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly force?: boolean;
}

/** `npm run deadletters`: messages that failed for good. */
export function deadletters(terminal: Terminal): Command {
  const command = new Command('deadletters').description(
    'Messages that failed for good: list, inspect, replay, discard.',
  );
  addFilter(command.command('list', { isDefault: true }).description('lists them, newest first'))
    .option('--limit <n>', 'at most so many', wholeNumber(1), 50)
    .action((flags: CommonFlags & { limit: number }) => list(terminal, flags));
  addCommon(
    command
      .command('show')
      .argument('<id>', 'number of the letter', wholeNumber(1))
      .description('shows one with its error and its message'),
  )
    .option('--full', 'texts in full length')
    .action((id: number, flags: CommonFlags & { full?: boolean }) => show(terminal, id, flags));
  addChoice(
    command
      .command('replay')
      .argument('[id]', 'number of the letter', wholeNumber(1))
      .description('gives the message to its handlers again, and removes the letter'),
  )
    .option('--force', 'also what still breaks its contract and would be buried again')
    .action((id: number | undefined, flags: ChosenFlags) => replay(terminal, id, flags));
  addChoice(
    command
      .command('discard')
      .argument('[id]', 'number of the letter', wholeNumber(1))
      .description('removes the letter for good; the ledger keeps its decision'),
  ).action((id: number | undefined, flags: ChosenFlags) => discard(terminal, id, flags));
  return command;
}

const addCommon = (command: Command): Command => command.addOption(jsonOption()).addOption(dataDirOption());
const addFilter = (command: Command): Command =>
  addCommon(command)
    .option('--code <code>', 'letters of this error code only (docs/errors.md)')
    .option('--subject <subject>', `letters of this failed subject only, or its end: ${failingSubjects.join(', ')}`)
    .option('--turn <id>', 'letters of this turn only');
const addChoice = (command: Command): Command =>
  addFilter(command).option('--all', 'all that the filter lets through').option('--yes', 'without asking');

function withBox<T>(
  terminal: Terminal,
  flags: CommonFlags,
  work: (box: DeadLetterBox, connection: NatsConnection) => Promise<T>,
): Promise<T> {
  const { dispatcher } = commandConfig(terminal.env, flags.dataDir);
  return withBroker(brokerOf(dispatcher), terminal, async (connection) =>
    work(await DeadLetterBox.open(connection), connection),
  );
}

async function list(terminal: Terminal, flags: CommonFlags & { limit: number }): Promise<void> {
  const rows: ReturnType<typeof summaryOf>[] = [];
  await withBox(terminal, flags, async (box) => {
    for await (const letter of box.letters(flags, 'newest first'))
      if (rows.push(summaryOf(letter)) === flags.limit) break;
  });
  if (flags.json) return terminal.print(JSON.stringify({ letters: rows }));
  if (rows.length === 0) return terminal.print('There are no dead letters.');
  const cells = rows.map(({ id, at, subject, consumer, code, deliveries, turnId, error }) => [
    String(id),
    at,
    subject,
    consumer,
    code,
    String(deliveries),
    turnId ?? '-',
    error,
  ]);
  const heading = ['id', 'at', 'subject', 'given up by', 'code', 'deliveries', 'turn', 'error'];
  terminal.print(textTable(heading, cells, terminal.width));
}

function summaryOf(letter: StoredLetter) {
  const { id, storedAt, envelope } = letter;
  const { consumer = '-', code = '-', deliveries = 0, error = '' } = envelope?.body ?? {};
  const subject = failedSubject(letter);
  const turnId = concernedTurn(letter);
  return {
    id,
    at: storedAt.toISOString(),
    subject,
    consumer: consumer.split('--')[0]!,
    code,
    deliveries,
    turnId,
    error,
  };
}

async function show(terminal: Terminal, id: number, flags: CommonFlags & { full?: boolean }): Promise<void> {
  const view = await withBox(terminal, flags, async (box) => {
    const letter = await existing(box, id);
    if (!letter.envelope) throw new HindcastError('contract-violation', `letter ${id} cannot be read`);
    const { messageId } = letter.envelope.body;
    // What cannot be shown any more is still a letter with an error.
    const payload = await payloadOf(letter, box).then(decodedPayload, (error: Error) => `(${error.message})`);
    return { ...summaryOf(letter), consumer: letter.envelope.body.consumer, messageId, payload };
  });
  const shown = flags.full ? view : { ...view, payload: shortenedValue(view.payload) };
  if (flags.json) return terminal.print(JSON.stringify(shown));
  const { payload, ...facts } = shown;
  for (const [name, value] of Object.entries(facts)) terminal.print(`${name.padEnd(12)}${value ?? '-'}`);
  terminal.print(JSON.stringify(payload, null, 2));
}

async function replay(terminal: Terminal, id: number | undefined, flags: ChosenFlags): Promise<void> {
  const { dispatcher } = commandConfig(terminal.env, flags.dataDir);
  const done: Replayed[] = [];
  const failures = await withBox(terminal, flags, async (box, connection) => {
    const ids = await chosen(terminal, box, id, flags, 'Replay');
    return withLedger(dispatcher, terminal, (database) =>
      each(terminal, 'Replayed', ids, async (letterId) => {
        const letter = await existing(box, letterId);
        done.push(await replayLetter(letter, { box, connection, database, force: flags.force ?? false }));
      }),
    );
  });
  const reopened = done.filter((letter) => letter.reopened).length;
  report(
    terminal,
    flags,
    { replayed: done, failed: failures },
    `${done.length} replayed, ${counted(reopened, 'turn')} opened again`,
  );
}

async function discard(terminal: Terminal, id: number | undefined, flags: ChosenFlags): Promise<void> {
  const done: number[] = [];
  const failures = await withBox(terminal, flags, async (box) => {
    const ids = await chosen(terminal, box, id, flags, 'Remove for good');
    return each(terminal, 'Discarded', ids, async (letterId) => {
      await existing(box, letterId);
      await box.remove(letterId);
      done.push(letterId);
    });
  });
  report(terminal, flags, { discarded: done, failed: failures }, `${done.length} discarded`);
}

interface Failure {
  readonly id: number;
  readonly error: string;
}

/** Oldest first, so that messages of one turn come in the order in which they failed. */
async function chosen(
  terminal: Terminal,
  box: DeadLetterBox,
  id: number | undefined,
  flags: ChosenFlags,
  verb: string,
): Promise<number[]> {
  if ((id === undefined) === (flags.all !== true))
    throw new HindcastError('invalid-request', 'name one letter by its id, or all of them by --all');
  const ids: number[] = [];
  if (id !== undefined) ids.push(id);
  else for await (const letter of box.letters(flags, 'oldest first')) ids.push(letter.id);
  if (ids.length > 0)
    await ask(
      terminal,
      `${verb} ${ids.length === 1 ? `letter ${ids[0]}` : `${ids.length} letters`}?`,
      flags.yes ?? false,
    );
  return ids;
}

/** One letter that stays keeps none of the others from going. */
async function each(
  terminal: Terminal,
  title: string,
  ids: readonly number[],
  work: (id: number) => Promise<void>,
): Promise<Failure[]> {
  const failures: Failure[] = [];
  const progress = new Progress(terminal, title, ids.length);
  try {
    for (const id of ids) {
      await work(id).catch((error: Error) => failures.push({ id, error: error.message }));
      progress.advance();
    }
  } finally {
    progress.stop();
  }
  return failures;
}

function report(
  terminal: Terminal,
  { json }: CommonFlags,
  result: { readonly failed: readonly Failure[] } & Record<string, unknown>,
  summary: string,
): void {
  terminal.print(json ? JSON.stringify(result) : `${summary}.`);
  for (const { error } of result.failed) terminal.say(error);
  if (result.failed.length > 0)
    throw new HindcastError('internal', `${result.failed.length} letters stay where they are`);
}

async function existing(box: DeadLetterBox, id: number): Promise<StoredLetter> {
  const letter = await box.letter(id);
  if (!letter) throw new HindcastError('not-found', `there is no dead letter ${id}`);
  return letter;
}
