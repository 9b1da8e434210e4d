import { Module } from '@nestjs/common';
import { PolicyBoard } from './policy-board';
import { TopKStore } from './top-k-store';
import { Trainer } from './trainer';
import { TrainerController } from './trainer.controller';

@Module({ controllers: [TrainerController], providers: [Trainer, PolicyBoard, TopKStore] })
export class AppModule {}
