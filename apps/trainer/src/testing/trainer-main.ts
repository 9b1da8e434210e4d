// `main.ts` with short waits of the broker, so that a killed trainer's messages come back within a second.
import { readConfig } from '../config';
import { startTrainer } from '../service';
import { SHORT_TIMING } from './timing';

const ackWaitMs = Number(process.env['TEST_ACK_WAIT_MS'] ?? SHORT_TIMING.ackWaitMs);

startTrainer(readConfig(process.env), { timing: { ...SHORT_TIMING, ackWaitMs } }).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
