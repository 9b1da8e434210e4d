import '@hindcast/platform/first';
import 'reflect-metadata';
import { parseConfig, runApp, startService } from '@hindcast/platform';
import { AppModule } from './app.module';
import { TeacherConfig } from './config';

void runApp(() =>
  startService({
    app: 'teacher-svc',
    config: parseConfig('teacher-svc', TeacherConfig, process.env),
    module: AppModule,
  }),
);
