import { parentPort, workerData } from 'node:worker_threads';
import { textOfBytes } from './core/admin/token-text';
import { refusal } from './core/refusal';
import { recover, type RecoveryQuestion } from './recovery';
import { ServedModel } from './served-model';

// The thread of RecoveryThread. Says `ready` or why not, then answers every question in order.

interface Asked {
  readonly number: number;
  readonly question?: RecoveryQuestion;
  readonly ids?: readonly number[];
}

const textOf = ({ vocabulary }: ServedModel, id: number): string | null => {
  const bytes = vocabulary.bytesOf(id);
  return bytes === null ? null : textOfBytes(Buffer.from(bytes, 'latin1'));
};

const port = parentPort!;
const { dir } = workerData as { dir: string };

void ServedModel.load(dir).then(
  (model) => {
    port.on('message', ({ number, question, ids }: Asked) => {
      if (ids) return port.postMessage({ number, result: ids.map((id) => textOf(model, id)) });
      try {
        port.postMessage({ number, result: recover(model, question!) });
      } catch (error) {
        port.postMessage({ number, result: refusal('no-token-ids', `recovery failed: ${(error as Error).name}`) });
      }
    });
    port.postMessage({ ready: model.vocabulary.size });
  },
  (error: unknown) => port.postMessage({ broken: error instanceof Error ? error.message : String(error) }),
);
