import { Module } from '@nestjs/common';
import { CurrentPolicyWatch } from './current-policy';
import { EngineHttp } from './engine-http';
import { ScoringModel } from './scoring-model';
import { Teacher } from './teacher';
import { TeacherClient } from './teacher-client';
import { TeacherController } from './teacher.controller';
import { TeacherEngines } from './teacher-engines';
import { TeacherMetrics } from './teacher-metrics';
import { TurnStore } from './turn-store';
import { Vocabulary } from './vocabulary';

@Module({
  controllers: [TeacherController],
  providers: [
    CurrentPolicyWatch,
    EngineHttp,
    ScoringModel,
    Teacher,
    TeacherClient,
    TeacherEngines,
    TeacherMetrics,
    TurnStore,
    Vocabulary,
  ],
})
export class AppModule {}
