import { Module } from '@nestjs/common';
import { Judge } from './judge';
import { JudgeClient } from './judge-client';
import { JudgeController } from './judge.controller';

@Module({ controllers: [JudgeController], providers: [Judge, JudgeClient] })
export class AppModule {}
