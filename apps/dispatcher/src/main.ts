import '@hindcast/platform/first';
import { runApp } from '@hindcast/platform';
import { readConfig } from './config';
import { startDispatcher } from './service';

void runApp(() => startDispatcher(readConfig(process.env)));
