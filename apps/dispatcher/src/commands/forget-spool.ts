import { readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { belongs, type ForgetTarget } from './forget-target';

/** "HOP1": magic u32, bytes of the JSON u32, JSON, capture (apps/gateway core/operation.ts). */
const MAGIC = 0x31504f48;
const HEADER_BYTES = 8;

interface SpooledOperation {
  readonly kind?: string;
  readonly turnId?: string;
  readonly tenant?: string;
  readonly sessionId?: string | null;
  readonly captured?: { readonly sessionId?: string | null; readonly userId?: string | null };
  readonly turn?: SpooledOperation;
}

/**
 * Removes what a gateway on this machine holds back of the target until the broker answers. A running gateway takes a file that is gone
 * for one that was done.
 *
 * @returns how many operations there were; `null` when the folder is not on this machine
 */
export async function forgetSpool(folder: string, target: ForgetTarget, isDryRun: boolean): Promise<number | null> {
  const names = await readdir(folder).catch(() => null);
  if (names === null) return null;
  let found = 0;
  for (const name of names.filter((file) => file.endsWith('.operation'))) {
    const path = join(folder, name);
    const operation = await readFile(path).then(operationOf, () => null);
    if (!operation || !isTargets(target, operation)) continue;
    found++;
    if (!isDryRun) await rm(path, { force: true });
  }
  return found;
}

function operationOf(bytes: Buffer): SpooledOperation | null {
  if (bytes.length < HEADER_BYTES || bytes.readUInt32LE(0) !== MAGIC) return null;
  try {
    return JSON.parse(bytes.toString('utf8', HEADER_BYTES, HEADER_BYTES + bytes.readUInt32LE(4))) as SpooledOperation;
  } catch {
    return null;
  }
}

function isTargets(target: ForgetTarget, operation: SpooledOperation): boolean {
  const { turnId, tenant, sessionId, captured } = operation.turn ?? operation;
  const owner = { turnId, tenant, sessionId: sessionId ?? captured?.sessionId, userId: captured?.userId };
  return belongs(target, owner);
}
