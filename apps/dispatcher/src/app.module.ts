import { Module } from '@nestjs/common';
import { BusGauges } from './bus-gauges';
import { BusLag } from './bus-lag';
import { CountKeeper } from './count-keeper';
import { CurrentVersion } from './current-version';
import { Database } from './database';
import { DeadLetterDesk } from './dead-letter-desk';
import { DeadLettersController } from './dead-letters.controller';
import { DecisionsController } from './decisions.controller';
import { Dispatch } from './dispatch';
import { JudgeStatisticsReader } from './judge-statistics';
import { Ledger } from './ledger';
import { LedgerGauges } from './ledger-gauges';
import { LedgerOverviewReader } from './ledger-overview';
import { LedgerTraining } from './ledger-training';
import { LedgerTurns } from './ledger-turns';
import { LedgerWriter } from './ledger-writer';
import { LengthGuard } from './length-guard';
import { Outbox } from './outbox';
import { OutcomesController } from './outcomes.controller';
import { Queries } from './queries';
import { RecordKeeper } from './record-keeper';
import { SessionOutcomes } from './session-outcomes';
import { Sessions } from './sessions';
import { Tally } from './tally';
import { TrainedTokens } from './trained-tokens';
import { TrainingController } from './training.controller';
import { TurnDetails } from './turn-detail';
import { TurnValues } from './turn-values';
import { TurnsController } from './turns.controller';

@Module({
  controllers: [TurnsController, DecisionsController, OutcomesController, TrainingController, DeadLettersController],
  providers: [
    Database,
    LedgerWriter,
    Ledger,
    Sessions,
    TurnValues,
    CurrentVersion,
    Dispatch,
    SessionOutcomes,
    Outbox,
    LengthGuard,
    RecordKeeper,
    BusLag,
    BusGauges,
    LedgerGauges,
    LedgerOverviewReader,
    LedgerTurns,
    LedgerTraining,
    TurnDetails,
    JudgeStatisticsReader,
    DeadLetterDesk,
    Queries,
    Tally,
    TrainedTokens,
    CountKeeper,
  ],
})
export class DispatcherModule {}
