import { textTable, type Terminal } from '@hindcast/platform/terminal';
import type { Manifest } from '../../core/manifest';
import { PolicyReader, type CommonFlags } from './policy-reader';

/** A version in one row; a number that the version does not have is `null`. */
export interface VersionRow {
  readonly version: number;
  readonly state: Manifest['state'];
  readonly reason: string | null;
  readonly parent: number;
  readonly at: string;
  readonly samples: number;
  readonly loss: number | null;
  /** To the base model, nats per token. */
  readonly kl: number | null;
  readonly rewardMean: number | null;
  /** Nats per probe answer. */
  readonly driftNats: number | null;
  readonly hasWeights: boolean;
  readonly serves: boolean;
}

/** `npm run policy -- list`. */
export async function list(terminal: Terminal, flags: CommonFlags): Promise<void> {
  const reader = await PolicyReader.open(terminal, flags);
  const rows: VersionRow[] = [];
  for (const manifest of reader.all().toReversed())
    rows.push(rowOf(manifest, await reader.hasWeights(manifest), reader.servedVersion));
  if (flags.json)
    return terminal.print(JSON.stringify({ folder: reader.folder, serves: reader.servedVersion, versions: rows }));
  if (rows.length === 0) return terminal.print('There are no versions yet: the base model serves.');
  const heading = ['', 'version', 'state', 'parent', 'date', 'samples', 'loss', 'kl', 'reward', 'drift', 'weights', ''];
  terminal.print(textTable(heading, rows.map(cellsOf)));
  if (reader.servedVersion === 0) terminal.say('None of them serves: the base model does.');
}

export function rowOf(manifest: Manifest, hasWeights: boolean, servedVersion: number): VersionRow {
  const { version, state, reason, parent, at, turnIds, metrics } = manifest;
  return {
    version,
    state,
    reason,
    parent,
    at: new Date(at).toISOString(),
    samples: turnIds.length,
    loss: metrics['loss/total'] ?? metrics['loss'] ?? null,
    kl: metrics['kl'] ?? null,
    rewardMean: metrics['reward_mean'] ?? null,
    driftNats: metrics['drift_nats'] ?? null,
    hasWeights,
    serves: version === servedVersion,
  };
}

function cellsOf(row: VersionRow): string[] {
  return [
    row.serves ? '*' : '',
    String(row.version),
    row.state,
    String(row.parent),
    row.at.replace('T', ' ').slice(0, 19),
    String(row.samples),
    number(row.loss),
    number(row.kl),
    number(row.rewardMean),
    number(row.driftNats),
    row.hasWeights ? 'kept' : '-',
    row.reason ?? '',
  ];
}

const number = (value: number | null): string => (value === null ? '-' : value.toPrecision(4));
