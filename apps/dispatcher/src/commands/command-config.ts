import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { HindcastError } from '@hindcast/contracts';
import { readConfig, type DispatcherConfig } from '../config';

/** Where `npm start` keeps everything, and what every other start uses unless DATA_DIR says otherwise. */
const DATA_DIRS = ['.data/one-machine', '.data'];

type Env = Readonly<Record<string, string | undefined>>;

export interface CommandConfig {
  /** What the dispatcher of this data folder runs with. */
  readonly dispatcher: Readonly<DispatcherConfig>;
  /** Key of the gateways' HMACs where it is not the file in DATA_DIR. */
  readonly sessionSecret: string | undefined;
  readonly spoolDir: string;
  /** What the trainer multiplies the two signals with. */
  readonly signalWeights: { readonly rl: number; readonly opd: number };
}

/**
 * The settings of a command: the environment, then what `npm start` wrote down for its dispatcher (`DATA_DIR/env/dispatcher.env`: the
 * broker's port may be any), then the defaults.
 *
 * @throws HindcastError `config-invalid` that lists every mistake
 */
export function commandConfig(env: Env, dataDir: string | undefined): CommandConfig {
  const folder = dataDir ?? (env['DATA_DIR'] || (DATA_DIRS.find(holdsLedger) ?? '.data'));
  const written = ['dispatcher', 'gateway', 'trainer'].map((app) => writtenSettings(join(folder, 'env', `${app}.env`)));
  const settings = written.map((own): Env => ({ ...own, ...present(env), DATA_DIR: folder }));
  const [dispatcher, gateway, trainer] = settings as [Env, Env, Env];
  return {
    dispatcher: readConfig(dispatcher),
    sessionSecret: gateway['SESSION_SECRET'],
    spoolDir: gateway['SPOOL_DIR'] ?? join(folder, 'spool'),
    signalWeights: { rl: weightOf(trainer, 'W_RL'), opd: weightOf(trainer, 'W_OPD') },
  };
}

/** Whether an embedded database was ever made in the folder. */
export const holdsLedger = (dataDir: string): boolean => existsSync(join(dataDir, 'postgres', 'connection.json'));

function weightOf(env: Env, name: string): number {
  const weight = Number(env[name] ?? 1);
  if (!Number.isFinite(weight)) throw new HindcastError('config-invalid', `${name}: ${env[name]} is not a number`);
  return weight;
}

function writtenSettings(file: string): Env {
  return existsSync(file) ? present(parseEnv(readFileSync(file, 'utf8')) as Env) : {};
}

const present = (env: Env): Env =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
