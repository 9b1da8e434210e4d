import { Module } from '@nestjs/common';
import { PolicyBoard } from './policy-board';
import { Trainer } from './trainer';
import { TrainerController } from './trainer.controller';

@Module({ controllers: [TrainerController], providers: [Trainer, PolicyBoard] })
export class AppModule {}
