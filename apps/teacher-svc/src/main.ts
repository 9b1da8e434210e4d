import 'reflect-metadata';
import { parseConfig, startService } from '@hindcast/platform';
import { AppModule } from './app.module';
import { TeacherConfig } from './config';

void startService({
  app: 'teacher-svc',
  config: parseConfig('teacher-svc', TeacherConfig, process.env),
  module: AppModule,
});
