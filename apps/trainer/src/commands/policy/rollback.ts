import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { HindcastError } from '@hindcast/contracts';
import type { Terminal } from '@hindcast/platform/terminal';
import { earlierVersions, versionsToRollBack } from '../../core/manifest';
import { PolicyLock } from '../../policy-lock';
import {
  readRollbackOutcome,
  readRollbackRequest,
  writeRollbackRequest,
  type RollbackOutcome,
} from '../../rollback-request';
import { PolicyReader, type CommonFlags } from './policy-reader';
import { assertKept } from './version-tensors';

const LOOK_MS = 200;

export interface RollbackFlags extends CommonFlags {
  readonly reason?: string;
  readonly yes?: boolean;
  /** Seconds. */
  readonly wait: number;
}

/**
 * `npm run policy -- rollback N`: asks the trainer, which looks every second; one that does not run does it at its next start. The command
 * changes no version itself, so it needs no lock.
 */
export async function rollback(terminal: Terminal, version: number, flags: RollbackFlags): Promise<void> {
  const reader = await PolicyReader.open(terminal, flags);
  await assertPossible(reader, version);
  const from = reader.servedVersion;
  const rolledBack = version === from ? [] : versionsToRollBack(reader.all(), version);
  const question =
    version === from
      ? `Keep version ${version} in service, and withdraw the rollback that was asked for?`
      : `Put version ${version} back into service? ${listed(rolledBack)} will never serve again.`;
  if (!flags.yes && !(await terminal.confirm(question))) throw new Error('Nothing was changed.');
  const id = randomUUID();
  await writeRollbackRequest(reader.folder, { v: 1, id, version, reason: flags.reason ?? null, at: Date.now() });
  const outcome = (await PolicyLock.isHeld(reader.folder)) ? await outcomeOf(reader.folder, id, flags.wait) : null;
  if (outcome?.state === 'refused') throw new HindcastError('invalid-request', outcome.message ?? 'refused');
  const isDone = outcome?.state === 'done';
  if (flags.json)
    terminal.print(
      JSON.stringify({
        version,
        from,
        rolledBack,
        state: isDone ? 'done' : 'requested',
        message: outcome?.message ?? null,
      }),
    );
  else if (isDone)
    terminal.print(`Version ${version} serves.${version === from ? '' : ` ${listed(rolledBack)} no longer.`}`);
  else if (outcome) terminal.print(`Asked for; the trainer tries again: ${outcome.message}`);
  else if (version === from) terminal.print(`Version ${version} stays in service: the rollback is withdrawn.`);
  else terminal.print(`Asked for: the trainer puts version ${version} into service when it runs.`);
}

async function assertPossible(reader: PolicyReader, version: number): Promise<void> {
  const earlier = earlierVersions(reader.all());
  if (version === reader.servedVersion) {
    // Asking for it withdraws a rollback that the trainer has not done yet.
    if (await readRollbackRequest(reader.folder)) return;
    throw new HindcastError('invalid-request', `version ${version} serves already`);
  }
  if (version === 0) return;
  if (!earlier.includes(version))
    throw new HindcastError(
      'invalid-request',
      `version ${version} did not serve before version ${reader.servedVersion}; these did: ${[...earlier, 0].join(', ')}`,
    );
  assertKept(version, await reader.hasWeights(reader.get(version)));
}

/** The newest word on the request; `null` when there was none in time. */
async function outcomeOf(folder: string, id: string, waitSeconds: number): Promise<RollbackOutcome | null> {
  const until = Date.now() + 1000 * waitSeconds;
  let newest: RollbackOutcome | null = null;
  do {
    const outcome = await readRollbackOutcome(folder);
    if (outcome?.id === id) newest = outcome;
    if (newest && newest.state !== 'failed') return newest;
    await sleep(LOOK_MS);
  } while (Date.now() < until);
  return newest;
}

const listed = (versions: readonly number[]): string =>
  versions.length === 1 ? `Version ${versions[0]}` : `Versions ${[...versions].sort((a, b) => a - b).join(', ')}`;
