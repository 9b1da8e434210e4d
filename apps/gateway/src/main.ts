import '@hindcast/platform/first';
import { setFlagsFromString } from 'node:v8';
import { parseConfig, runApp } from '@hindcast/platform';
import { GatewayConfig } from './config';
import { startGateway } from './start';

// What lives is small and what a request leaves behind is much: by default V8 lets the heap grow to several times what lives. With this it
// collects once as much again has come up. Less would cost CPU with long prompts (docs/speed.md).
setFlagsFromString('--heap-growing-percent=100');
// After some seconds without work V8 gives up what it has compiled and shrinks its young generation, and the next burst of requests
// takes half as much CPU again. A gateway's pauses are short, and it has little to give back.
setFlagsFromString('--gc-memory-reducer-start-delay-ms=2147483647');

void runApp(() => startGateway(parseConfig('gateway', GatewayConfig, process.env)));
