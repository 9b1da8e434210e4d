import '@hindcast/platform/first';
import { runApp } from '@hindcast/platform';
import { readConfig } from './config';
import { startTrainer } from './service';

void runApp(() => startTrainer(readConfig(process.env)));
