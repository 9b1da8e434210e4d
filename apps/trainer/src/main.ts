import { readConfig } from './config';
import { startTrainer } from './service';

async function main(): Promise<void> {
  await startTrainer(readConfig(process.env));
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
