import { HindcastError } from '@hindcast/contracts';

/** Exit code when the operator has to change the configuration; starting again without that cannot help. */
const MISCONFIGURED = 2;

/**
 * Body of an app's `main.ts`: reads the configuration and starts. What keeps it from starting is printed as its message alone, without
 * a stack; the process then ends with 2 for a mistake in the configuration, with 1 for anything else.
 */
export async function runApp(start: () => Promise<unknown>): Promise<void> {
  try {
    await start();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(error instanceof HindcastError && error.code === 'config-invalid' ? MISCONFIGURED : 1);
  }
}
