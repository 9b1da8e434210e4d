import { Injectable } from '@nestjs/common';
import { DependencyUnavailable } from '@hindcast/contracts';
import { Latest } from '@hindcast/platform';
import { folded, type Folded, type TurnNews } from './core/fold';
import type { Turn } from './core/turn';
import { Database } from './database';
import { commit } from './ledger-commit';
import type { Changes, TurnRows } from './ledger-rows';

/** One event of one turn, and what is stored with it when it is news. */
export interface TurnChange extends TurnNews<TurnRows> {
  /** The change is only right while no turn of this session was kept. */
  readonly firstSampleOf?: string;
}

/** `known`: no news, it was stored before. `overtaken`: its session got a sample meanwhile. */
export type Outcome = 'stored' | 'known' | 'overtaken';

/** Rows that belong to no turn. */
export type OtherRows = Omit<Changes, 'turns' | 'firstSamples'>;

interface Waiting {
  readonly change: TurnChange;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
  rounds: number;
}

/** Changes of one commit: enough to share its price among many, few enough to be done soon. */
const BATCH = 128;
/** Captures and judgements of one commit, bytes; a single change may be larger. */
const BATCH_BYTES = 16 * 1024 * 1024;
/** Two: while one is being written, the next is prepared. */
const LANES = 2;
/** Two writers of one turn are rare, and each round lets one of them through. */
const MAX_ROUNDS = 20;
/** Most turns whose rows are remembered, so that they are not read before each change. */
const REMEMBERED = 20_000;

/**
 * Writes turns, many in one transaction: what comes while a commit is under way goes with the next one. Nothing waits when nothing is
 * under way, and every caller hears of its own change only once that is on disk.
 */
@Injectable()
export class LedgerWriter {
  private queue: Waiting[] = [];
  private lanes = 0;
  /** Turns that a commit is writing now. */
  private readonly busy = new Set<string>();
  /** Rows as they were last stored or read here; the revision tells when somebody else has moved on. */
  private readonly remembered = new Latest<string, Turn>(REMEMBERED);
  private sent: string[] = [];

  constructor(private readonly database: Database) {}

  /** @throws DependencyUnavailable when the database is away; the change may have been stored all the same */
  write(change: TurnChange): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.queue.push({ change, resolve, reject, rounds: 0 });
      this.wake();
    });
  }

  /** The broker has confirmed these samples. Stored with the next commit, and soon even when none comes. */
  markSent(turnIds: readonly string[]): void {
    this.sent.push(...turnIds);
    this.wake();
  }

  private wake(): void {
    while (this.lanes < LANES && (this.queue.length > 0 || this.sent.length > 0)) {
      if (this.lanes > 0 && this.queue.every(({ change }) => this.busy.has(change.turnId))) return;
      this.lanes++;
      // What the same turn of the event loop still brings goes along.
      setImmediate(() => void this.run());
    }
  }

  private async run(): Promise<void> {
    const batch = this.take();
    const sent = this.sent.splice(0);
    for (const { change } of batch) this.busy.add(change.turnId);
    try {
      if (batch.length > 0 || sent.length > 0) await this.writeBatch(batch, sent);
    } finally {
      for (const { change } of batch) this.busy.delete(change.turnId);
      this.lanes--;
      this.wake();
    }
  }

  /** The next changes in order; those of a turn that is being written wait, and so does a second first sample of one session. */
  private take(): Waiting[] {
    const batch: Waiting[] = [];
    const later: Waiting[] = [];
    const sessions = new Set<string>();
    const passed = new Set<string>();
    let bytes = 0;
    for (const waiting of this.queue) {
      const { turnId, firstSampleOf } = waiting.change;
      const mustWait =
        batch.length >= BATCH ||
        bytes >= BATCH_BYTES ||
        this.busy.has(turnId) ||
        passed.has(turnId) ||
        (firstSampleOf !== undefined && sessions.has(firstSampleOf));
      if (mustWait) passed.add(turnId);
      else if (firstSampleOf !== undefined) sessions.add(firstSampleOf);
      if (!mustWait) bytes += bytesOf(waiting.change);
      (mustWait ? later : batch).push(waiting);
    }
    this.queue = later;
    return batch;
  }

  private async writeBatch(batch: readonly Waiting[], sent: readonly string[]): Promise<void> {
    const groups = new Map<string, Waiting[]>();
    for (const waiting of batch) {
      const { turnId } = waiting.change;
      groups.set(turnId, [...(groups.get(turnId) ?? []), waiting]);
    }
    try {
      await this.writeGroups(groups, sent);
    } catch (error) {
      // What is not marked as sent is found by the outbox's sweep.
      if (error instanceof DependencyUnavailable || groups.size <= 1) return fail(batch, error);
      // One value that no column takes is not to fail the others.
      for (const [turnId, group] of groups)
        await this.writeGroups(new Map([[turnId, group]]), []).catch((own: unknown) => fail(group, own));
    }
  }

  private async writeGroups(groups: ReadonlyMap<string, readonly Waiting[]>, sent: readonly string[]): Promise<void> {
    const before = await this.rows(groups);
    const changes = [...groups].map(([turnId, group]) => ({
      turnId,
      group,
      ...folded(
        before.get(turnId) ?? null,
        group.map((waiting) => waiting.change),
      ),
    }));
    const news = changes.filter((change) => change.turn !== null);
    const stored =
      news.length === 0 && sent.length === 0
        ? new Set<string>()
        : await commit(this.database, changesOf(news, sent), new Date());
    for (const change of changes) this.settle(change, stored);
  }

  private settle(
    { turnId, group, turn, isNews }: Folded<TurnRows> & { turnId: string; group: readonly Waiting[] },
    stored: ReadonlySet<string>,
  ): void {
    if (turn === null || stored.has(turnId)) {
      if (turn !== null) this.remember(turn);
      return group.forEach((waiting, index) => waiting.resolve(isNews[index] ? 'stored' : 'known'));
    }
    this.remembered.delete(turnId);
    const again: Waiting[] = [];
    for (const waiting of group) {
      if (waiting.change.firstSampleOf !== undefined) waiting.resolve('overtaken');
      else if (++waiting.rounds < MAX_ROUNDS) again.push(waiting);
      else waiting.reject(new DependencyUnavailable('database', `turn ${turnId} changes all the time`));
    }
    this.queue.unshift(...again);
  }

  /**
   * The turns' rows before the change. Remembered ones do, as the commit notices an old one; not where they would make a change no
   * news, which nothing else checks, nor where a command took something back. Most turns are new when they are captured.
   */
  private async rows(groups: ReadonlyMap<string, readonly Waiting[]>): Promise<ReadonlyMap<string, Turn>> {
    const rows = new Map<string, Turn>();
    const unknown: string[] = [];
    for (const [turnId, group] of groups) {
      const known = this.remembered.get(turnId);
      const isFirstTry = group.every((waiting) => waiting.rounds === 0);
      const changes = group.map((waiting) => waiting.change);
      if (known && folded(known, changes).isNews.every(Boolean)) rows.set(turnId, known);
      else if (known || !isFirstTry || changes[0]!.event.kind !== 'captured') unknown.push(turnId);
    }
    if (unknown.length === 0) return rows;
    const found = await this.database.sql<Turn>(READ_TURNS, [unknown]);
    for (const turn of found) rows.set(turn.id, turn);
    return rows;
  }

  private remember(turn: Turn): void {
    // What is over is hardly spoken of again.
    if (turn.trainedIn !== null || turn.case === 'drop') this.remembered.delete(turn.id);
    else this.remembered.set(turn.id, turn);
  }
}

/** One by one: a plan that was made while the table was small would go on to read all of it. */
const READ_TURNS = {
  name: 'read-turns',
  text: `SELECT turn.* FROM unnest($1::text[]) AS wanted (id)
    CROSS JOIN LATERAL (SELECT * FROM turns WHERE turns.id = wanted.id OFFSET 0) turn`,
};

/** Of the values that may be large. */
const bytesOf = ({ rows = {} }: TurnChange): number =>
  [...(rows.recordings ?? []), ...(rows.held ?? [])].reduce(
    (sum, row) => sum + row.judged.length + ('capture' in row ? (row.capture?.length ?? 0) : 0),
    (rows.texts ?? []).reduce((sum, row) => sum + row.texts.length + row.searched.length, 0),
  );

const fail = (group: readonly Waiting[], error: unknown): void => group.forEach((waiting) => waiting.reject(error));

function changesOf(
  news: readonly (Folded<TurnRows> & { readonly group: readonly Waiting[] })[],
  sent: readonly string[],
): Changes {
  // In one order everywhere, so that two dispatchers do not wait for each other in a circle.
  const sorted = [...news].sort((a, b) => (a.turn!.id < b.turn!.id ? -1 : 1));
  const all = <Key extends keyof TurnRows>(key: Key): Required<TurnRows>[Key][number][] =>
    news.flatMap(({ rows }) => rows.flatMap((own) => (own[key] ?? []) as never[]));
  return {
    turns: sorted.map(({ turn }) => turn!),
    firstSamples: news.flatMap(({ turn, group }) =>
      group.flatMap(({ change }) =>
        change.firstSampleOf === undefined ? [] : [{ turnId: turn!.id, sessionId: change.firstSampleOf }],
      ),
    ),
    decisions: all('decisions'),
    votes: all('votes'),
    samples: all('samples'),
    outbox: all('outbox'),
    recordings: all('recordings'),
    // A turn that is held and decided at once was not held.
    held: all('held').filter((row) => news.some(({ turn }) => turn!.id === row.turnId && turn!.decided === null)),
    ended: all('ended'),
    texts: all('texts'),
    sent,
  };
}
