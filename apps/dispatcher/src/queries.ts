import { Injectable } from '@nestjs/common';
import { Bus, Health } from '@hindcast/platform';
import { Database } from './database';
import { DeadLetterDesk } from './dead-letter-desk';
import { JudgeStatisticsReader } from './judge-statistics';
import { Ledger } from './ledger';
import { LedgerOverviewReader } from './ledger-overview';
import { LedgerTraining } from './ledger-training';
import { LedgerTurns } from './ledger-turns';
import { TurnDetails } from './turn-detail';

/** Answers the gateway's questions, and does what a person orders of the dead letters. */
@Injectable()
export class Queries {
  constructor(
    private readonly bus: Bus,
    private readonly health: Health,
    private readonly database: Database,
    private readonly ledger: Ledger,
    private readonly overviews: LedgerOverviewReader,
    private readonly turns: LedgerTurns,
    private readonly details: TurnDetails,
    private readonly training: LedgerTraining,
    private readonly judge: JudgeStatisticsReader,
    private readonly desk: DeadLetterDesk,
  ) {}

  start(): void {
    this.health.addCheck('database', () => this.database.check());
    const { bus } = this;
    bus.respond('turn', async ({ tenant, id }) => {
      const turn = await this.ledger.story(tenant, id);
      return turn === null ? { found: false } : { found: true, turn };
    });
    bus.respond('turnDetail', async ({ tenant, id }) => {
      const detail = await this.details.detail(tenant, id);
      return detail === null ? { found: false } : { found: true, detail };
    });
    bus.respond('status', ({ tenant }) => this.overviews.status(tenant));
    bus.respond('overview', ({ tenant }) => this.overviews.overview(tenant));
    bus.respond('turns', (query) => this.turns.page(query));
    bus.respond('steps', (query) => this.training.steps(query));
    bus.respond('versions', (query) => this.training.versions(query));
    bus.respond('judge', (query) => this.judge.of(query));
    bus.respond('deadLetters', (query) => this.desk.list(query));
    bus.respond('deadLetter', (query) => this.desk.letter(query));
    bus.respond('replayDeadLetter', ({ force, ...name }) => this.desk.replay(name, force));
    bus.respond('discardDeadLetter', (query) => this.desk.discard(query));
  }
}
