import { Injectable } from '@nestjs/common';
import type { TurnStory } from '@hindcast/contracts';
import { storyOf } from './core/story';
import { applied, type Turn, type TurnEvent } from './core/turn';
import { Database } from './database';
import { commit, storableText } from './ledger-commit';
import type { Changes } from './ledger-rows';
import { LedgerWriter, type OtherRows, type TurnChange } from './ledger-writer';

/** A step of the trainer: what it trained, and what came of it. */
export interface TrainedStep {
  readonly version: number;
  readonly turnIds: readonly string[];
  readonly rows: Pick<Changes, 'steps' | 'versions' | 'ended'>;
}

/** The books: every write goes through the state machine of `core/turn.ts`, every read is one snapshot. */
@Injectable()
export class Ledger {
  constructor(
    private readonly database: Database,
    private readonly writer: LedgerWriter,
  ) {}

  async turn(id: string): Promise<Turn | null> {
    return this.database.run((prisma) => prisma.turn.findUnique({ where: { id } }));
  }

  /**
   * Adds an event to a turn, which may be unknown so far.
   *
   * @returns false when it is no news: the message came before, or another one decided first
   * @throws DependencyUnavailable when the database is away
   */
  async record(change: TurnChange): Promise<boolean> {
    return (await this.writer.write(change)) === 'stored';
  }

  /**
   * Adds a step: its turns become trained.
   *
   * @returns ids that the ledger has no turn for
   */
  async recordStep({ version, turnIds, rows }: TrainedStep): Promise<readonly string[]> {
    const ids = [...new Set(turnIds)];
    const known = await this.database.run((prisma) => prisma.turn.findMany({ where: { id: { in: ids } } }));
    const event: TurnEvent = { kind: 'trained', version };
    const turns = known.map((turn) => applied(turn, turn.id, null, event)).filter((turn) => turn !== null);
    const stored = await commit(this.database, { ...rows, turns }, new Date());
    for (const { id } of turns) if (!stored.has(id)) await this.record({ turnId: id, tenant: null, event });
    const knownIds = new Set(known.map((turn) => turn.id));
    return ids.filter((id) => !knownIds.has(id));
  }

  /** Stores rows that belong to no single turn, each once. */
  async store(rows: OtherRows): Promise<void> {
    await commit(this.database, { ...rows, turns: [] }, new Date());
  }

  /** The story of a turn by its own id or its response's; `null` when the tenant has no such turn. */
  async story(tenant: string, id: string): Promise<TurnStory | null> {
    const name = storableText(id);
    return this.database.run(async (prisma) => {
      const turn = await prisma.turn.findFirst({
        where: { tenant, OR: [{ id: name }, { responseId: name }] },
        orderBy: { createdAt: 'desc' },
      });
      if (turn === null) return null;
      const decision = turn.decided === null ? null : await prisma.decision.findUnique({ where: { turnId: turn.id } });
      return storyOf(turn, decision);
    });
  }
}
