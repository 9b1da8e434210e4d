import { Module } from '@nestjs/common';
import { BusGauges } from './bus-gauges';
import { CountKeeper } from './count-keeper';
import { CurrentVersion } from './current-version';
import { Database } from './database';
import { DeadLettersController } from './dead-letters.controller';
import { DecisionsController } from './decisions.controller';
import { Dispatch } from './dispatch';
import { Ledger } from './ledger';
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
    BusGauges,
    Queries,
    Tally,
    TrainedTokens,
    CountKeeper,
  ],
})
export class DispatcherModule {}
