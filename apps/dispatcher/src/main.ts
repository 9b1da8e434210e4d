import { readConfig } from './config';
import { startDispatcher } from './service';

async function main(): Promise<void> {
  await startDispatcher(readConfig(process.env));
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
