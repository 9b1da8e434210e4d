// `main.ts` with short waits of the broker, so that a killed trainer's messages come back within a second.
import { readConfig } from '../config';
import { startTrainer } from '../service';
import { SHORT_TIMING } from './timing';

startTrainer(readConfig(process.env), { timing: SHORT_TIMING }).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
