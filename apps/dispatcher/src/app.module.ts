import { Module } from '@nestjs/common';
import { Database } from './database';
import { DeadLettersController } from './dead-letters.controller';
import { DecisionsController } from './decisions.controller';
import { Dispatch } from './dispatch';
import { Ledger } from './ledger';
import { Outbox } from './outbox';
import { Queries } from './queries';
import { Tally } from './tally';
import { TrainingController } from './training.controller';
import { TurnValues } from './turn-values';
import { TurnsController } from './turns.controller';

@Module({
  controllers: [TurnsController, DecisionsController, TrainingController, DeadLettersController],
  providers: [Database, Ledger, TurnValues, Dispatch, Outbox, Queries, Tally],
})
export class DispatcherModule {}
