// The app `trainer` as a process of its own: it tells what it handles on stdout, and does what a message's hint says.
import { setTimeout as sleep } from 'node:timers/promises';
import { SHORT_TIMING, startTrainer } from './trainer';

const ackWaitMs = Number(process.env['TEST_ACK_WAIT_MS'] ?? SHORT_TIMING.ackWaitMs);
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

void startTrainer(
  process.env['NATS_URL']!,
  async ({ turnId, body: { hint } }, { deliveries, shutdown }) => {
    say({ event: 'handling', turnId, deliveries });
    if (hint === 'die') process.kill(process.pid, 'SIGKILL');
    if (hint === 'slow') await sleep(1_000);
    if (hint === 'wait') await new Promise((resolve) => shutdown.addEventListener('abort', resolve));
    if (hint === 'hang') await new Promise(() => undefined);
    say({ event: 'handled', turnId, deliveries });
  },
  { concurrency: 4 },
  { announce: say, shutdownMs: 3_000, timing: { ...SHORT_TIMING, ackWaitMs } },
);
