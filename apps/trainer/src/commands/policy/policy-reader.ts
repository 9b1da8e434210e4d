import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { HindcastError } from '@hindcast/contracts';
import { readModelConfig } from '@hindcast/language-model';
import type { Terminal } from '@hindcast/platform/terminal';
import { hyperparametersOf, readConfig, type TrainerConfig } from '../../config';
import { publishedVersion, versionFolder, type Manifest } from '../../core/manifest';
import { damageOf } from '../../folder-checksums';
import { STEP, hasFiles, readManifests } from '../../policy-folder';
import type { PolicyFiles } from '../../version-files';

/** Where `npm start` keeps everything, and what every other start uses unless DATA_DIR says otherwise. */
const DATA_DIRS = ['.data/one-machine', '.data'];

export interface CommonFlags {
  readonly json?: boolean;
  readonly policyDir?: string;
  readonly dataDir?: string;
}

/** A `POLICY_DIR` that a trainer may be working in: it is only read, and its lock is left alone. */
export class PolicyReader {
  private constructor(
    readonly folder: string,
    readonly config: TrainerConfig,
    private readonly manifests: readonly Manifest[],
  ) {}

  /** @throws HindcastError `config-invalid` when there is no such folder, `policy-damaged` when a manifest cannot be read */
  static async open({ env }: Pick<Terminal, 'env'>, { policyDir, dataDir }: CommonFlags): Promise<PolicyReader> {
    const data =
      dataDir ?? (env['DATA_DIR'] || (DATA_DIRS.find((dir) => existsSync(join(dir, 'policies'))) ?? '.data'));
    const written = writtenSettings(join(data, 'env', 'trainer.env'));
    const config = readConfig({
      ...written,
      ...present(env),
      DATA_DIR: data,
      ...(policyDir !== undefined && { POLICY_DIR: policyDir }),
    });
    const folder = resolve(config.POLICY_DIR);
    if (!existsSync(folder))
      throw new HindcastError('config-invalid', `there is no ${folder}; give --policy-dir, or set POLICY_DIR`);
    return new PolicyReader(folder, config, await readManifests(folder));
  }

  /** Oldest first. */
  all(): readonly Manifest[] {
    return this.manifests;
  }

  get servedVersion(): number {
    return publishedVersion(this.manifests);
  }

  /** @throws HindcastError `not-found` */
  get(version: number): Manifest {
    const manifest = this.manifests.find((found) => found.version === version);
    if (!manifest) throw new HindcastError('not-found', `there is no version ${version} in ${this.folder}`);
    return manifest;
  }

  folderOf(version: number): string {
    return version === 0 ? resolve(this.config.MODEL_DIR) : join(this.folder, versionFolder(version));
  }

  async hasWeights({ version, checksums }: Manifest): Promise<boolean> {
    return await hasFiles(
      this.folderOf(version),
      Object.keys(checksums).filter((name) => name !== STEP),
    );
  }

  /** What is wrong with the files of a version, or `null`. Reads all of them. */
  async damageOf({ version, checksums }: Manifest): Promise<string | null> {
    return await damageOf(this.folderOf(version), checksums, [STEP]);
  }

  /** How the policy's weights are read, as the trainer's settings have it. */
  async files(): Promise<PolicyFiles> {
    const { MODEL_DIR: baseModel, SEED: seed } = this.config;
    const { tuning } = hyperparametersOf(this.config);
    return { config: await readModelConfig(baseModel), baseModel, tuning, seed };
  }
}

function writtenSettings(file: string): Record<string, string> {
  return existsSync(file) ? present(parseEnv(readFileSync(file, 'utf8')) as Record<string, string>) : {};
}

const present = (env: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''),
  );
