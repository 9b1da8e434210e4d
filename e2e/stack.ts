import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startStack, type StartOptions } from '../apps/simulator/src/start-stack';
import type { Stack } from '../apps/simulator/src/stack/stack';

/** The whole system in a temporary data folder, on free ports. */
export function startTemporaryStack(options: Partial<StartOptions> = {}): Promise<Stack> {
  return startStack({
    dataDir: mkdtempSync(join(tmpdir(), 'hindcast-e2e-')),
    ports: 'any',
    method: 'combine',
    feedback: 'mixed',
    seed: 1,
    environmentWins: false,
    // What a killed worker held comes back soon.
    settings: { ACK_WAIT_SECONDS: '3' },
    ...options,
  });
}

/** Story of a turn as the gateway tells it. */
export async function turnStory(stack: Stack, id: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${stack.gatewayUrl}/v1/turns/${id}`);
  if (!response.ok) throw new Error(`/v1/turns/${id} answered ${response.status}`);
  return (await response.json()) as Record<string, unknown>;
}

/** Ends it and removes its data. */
export async function endTemporaryStack(stack: Stack | undefined): Promise<void> {
  if (!stack) return;
  await stack.stop();
  rmSync(dirname(stack.policyDir), { recursive: true, force: true });
}
