import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PolicyVersion, Timestamp } from '@hindcast/contracts';
import { writeAtomically } from '@hindcast/language-model';
import { z } from 'zod';
import { readJsonIfPresent } from './durable-file';

const REQUEST = 'rollback.json';
const OUTCOME = 'rollback-outcome.json';

/** Characters. */
export const LONGEST_REASON = 500;

/** `POLICY_DIR/rollback.json`: somebody wants an earlier version back in service. The trainer takes it up within a second. */
export const RollbackRequest = z.strictObject({
  v: z.literal(1),
  id: z.uuid(),
  version: PolicyVersion,
  /** For the manifests of the versions that no longer serve. */
  reason: z.string().max(LONGEST_REASON).nullable(),
  at: Timestamp,
});
export type RollbackRequest = z.infer<typeof RollbackRequest>;

/** `POLICY_DIR/rollback-outcome.json`: what became of the last request; `failed` is tried again. */
export const RollbackOutcome = z.strictObject({
  v: z.literal(1),
  id: z.uuid(),
  version: PolicyVersion,
  state: z.enum(['done', 'refused', 'failed']),
  message: z.string().nullable(),
  at: Timestamp,
});
export type RollbackOutcome = z.infer<typeof RollbackOutcome>;

export async function writeRollbackRequest(folder: string, request: RollbackRequest): Promise<void> {
  await writeAtomically(join(folder, REQUEST), JSON.stringify(RollbackRequest.parse(request)));
}

/** @throws HindcastError `policy-damaged` when it cannot be read */
export async function readRollbackRequest(folder: string): Promise<RollbackRequest | null> {
  return await readJsonIfPresent(join(folder, REQUEST), RollbackRequest, 'Remove it, and ask again.');
}

export async function removeRollbackRequest(folder: string): Promise<void> {
  await rm(join(folder, REQUEST), { force: true });
}

export async function writeRollbackOutcome(folder: string, outcome: RollbackOutcome): Promise<void> {
  await writeAtomically(join(folder, OUTCOME), JSON.stringify(RollbackOutcome.parse(outcome)));
}

export async function readRollbackOutcome(folder: string): Promise<RollbackOutcome | null> {
  return await readJsonIfPresent(join(folder, OUTCOME), RollbackOutcome, 'Remove it.');
}
