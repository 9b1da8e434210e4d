import { parseConfig, runApp } from '@hindcast/platform';
import { GatewayConfig } from './config';
import { startGateway } from './start';

void runApp(() => startGateway(parseConfig('gateway', GatewayConfig, process.env)));
