// `node -r register.cjs backend-process.ts NAME STEPS`: trains the small policy on a backend in a process of its own, whose environment the
// backend's native code reads, and prints the numbers as one line of JSON.
import { chooseBackend, type BackendName } from '../backends/choose-backend';
import { parityNumbers } from '../backends/parity';
import { loraTuning } from './fixtures';
import { BINDING_DIR } from './native-binding';
import { trainSmallPolicy } from './small-policy';

export interface BackendReport {
  readonly backend: string;
  readonly parity: Readonly<Record<string, number>>;
  readonly metrics: readonly Readonly<Record<string, number>>[];
  readonly weights: Readonly<Record<string, readonly number[]>>;
}

async function report(name: BackendName, steps: number): Promise<BackendReport> {
  const { backend } = await chooseBackend(name, 1, { bindingDir: BINDING_DIR });
  const parity = await parityNumbers(backend);
  const { metrics, weights } = await trainSmallPolicy(backend, loraTuning({ rank: 2, alpha: 4 }), steps);
  const plain = Object.fromEntries([...weights].map(([key, { data }]) => [key, [...data]]));
  return { backend: backend.name, parity, metrics, weights: plain };
}

const [name, steps] = process.argv.slice(2) as [BackendName, string];
report(name, Number(steps)).then(
  // Native threads of a GPU driver may not end by themselves.
  (found) => process.stdout.write(`${JSON.stringify(found)}\n`, () => process.exit(0)),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
