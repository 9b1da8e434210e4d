import { Module } from '@nestjs/common';
import { Teacher } from './teacher';
import { TeacherClient } from './teacher-client';
import { TeacherController } from './teacher.controller';

@Module({ controllers: [TeacherController], providers: [Teacher, TeacherClient] })
export class AppModule {}
