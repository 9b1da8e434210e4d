import { parseConfig } from '@hindcast/platform';
import { GatewayConfig } from './config';
import { startGateway } from './start';

async function main(): Promise<void> {
  await startGateway(parseConfig('gateway', GatewayConfig, process.env));
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
