import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { HindcastError } from '@hindcast/contracts';
import { writeAtomically } from '@hindcast/language-model';
import { crashPoint } from '@hindcast/platform';
import { initialAdamState } from './core/adam';
import { NextBatch } from './core/batch-plan';
import { deletableVersions, Manifest, nextVersion, publishedVersion, versionFolder } from './core/manifest';
import { INITIAL_PROGRESS, type Progress } from './core/progress';
import type { StepRecord } from './core/step-record';
import type { TrainingState } from './core/train-step';
import type { TrainedWeights, Tuning } from './core/tuning';
import { settingsToGoOn } from './core/tuning-match';
import { asDiskFull, assertRoom } from './disk-room';
import { flushFolder } from './durable-file';
import { damageOf, folderChecksums } from './folder-checksums';
import { readOptimizer, writeOptimizer } from './optimizer-files';
import {
  MANIFEST,
  NEXT_BATCH,
  NUMBERING,
  STEP,
  hasFiles,
  readFloor,
  readManifests,
  readNextBatch,
  removeFiles,
  removeLeftovers,
} from './policy-folder';
import { PolicyLock } from './policy-lock';
import { arraysOf, initialWeights, readWeights, versionBytes, writeWeights, type PolicyFiles } from './version-files';

/** What is known of a version before it has checksums and a place. */
export type NewManifest = Omit<Manifest, 'v' | 'state' | 'reason' | 'checksums'>;

/**
 * The policy's versions on disk (`POLICY_DIR`), one folder each. A version is there from one rename on: weights, optimizer,
 * record and manifest together, or nothing. Held by one process at a time.
 */
export class VersionStore {
  private readonly manifests = new Map<number, Manifest>();
  private readonly trained = new Map<string, number>();
  /** Versions are numbered above it. */
  private floor = 0;
  /** What the newest version was committed with, so that the next step need not read it. */
  private newest: { readonly version: number; readonly state: TrainingState } | null = null;

  private constructor(
    readonly folder: string,
    private readonly files: PolicyFiles,
    private readonly lock: PolicyLock,
  ) {}

  /**
   * Takes the folder's lock and reads every manifest.
   *
   * @throws HindcastError `policy-damaged` when it cannot be known which turns were trained, `config-invalid` for another tuning
   */
  static async open(folder: string, files: PolicyFiles): Promise<VersionStore> {
    const path = resolve(folder);
    const lock = await PolicyLock.take(path);
    const store = new VersionStore(path, files, lock);
    try {
      await store.load();
    } catch (error) {
      await lock.release();
      throw error;
    }
    return store;
  }

  async close(): Promise<void> {
    await this.lock.release();
  }

  get tuning(): Tuning {
    return this.files.tuning;
  }

  /** All manifests, oldest first. */
  all(): Manifest[] {
    return [...this.manifests.values()].sort((a, b) => a.version - b.version);
  }

  /** @throws RangeError when there is no such version */
  get(version: number): Manifest {
    const manifest = this.manifests.get(version);
    if (!manifest) throw new RangeError(`there is no version ${version}`);
    return manifest;
  }

  /** Version that serves. */
  get servedVersion(): number {
    return publishedVersion(this.all());
  }

  /** Version that was trained on a turn, whatever became of it; `null` for none. */
  trainedIn(turnId: string): number | null {
    return this.trained.get(turnId) ?? null;
  }

  get nextVersion(): number {
    return nextVersion(this.all(), this.floor);
  }

  /**
   * Takes note of a version that was announced from another folder: the ledger knows its number, which is never used again.
   *
   * @returns whether it is news
   */
  async numberAbove(version: number): Promise<boolean> {
    if (version < this.nextVersion) return false;
    await writeAtomically(join(this.folder, NUMBERING), JSON.stringify({ v: 1, above: version }));
    this.floor = version;
    return true;
  }

  /** What an engine loads: a PEFT adapter, or with full tuning a model directory. Version 0 is the base model's directory. */
  folderOf(version: number): string {
    return version === 0 ? resolve(this.files.baseModel) : join(this.folder, versionFolder(version));
  }

  /**
   * What a step starts from; the caller's to keep and to change. Version 0 is the base model: a fresh adapter that changes nothing, or
   * its own weights, and an empty optimizer. Takes weights and moments once in memory.
   *
   * @throws HindcastError `policy-damaged` when the files are not those that were committed
   */
  async stateOf(version: number): Promise<TrainingState> {
    const progress = this.progress();
    const known = this.newest;
    this.newest = null;
    if (known?.version === version) return { ...known.state, progress };
    if (version === 0) {
      const weights = await initialWeights(this.files);
      return { weights, optimizer: initialAdamState(arraysOf(weights)), progress };
    }
    await this.assertSound(version);
    const folder = this.folderOf(version);
    const weights = await readWeights(folder, this.files);
    return { weights, optimizer: await readOptimizer(folder, weights), progress };
  }

  /** A version's trained weights, for scoring. */
  async weightsOf(version: number): Promise<TrainedWeights> {
    if (this.newest?.version === version) {
      const { state } = this.newest;
      this.newest = { version, state: { ...state, isShared: true } };
      return state.weights;
    }
    if (version === 0) return await initialWeights(this.files);
    await this.assertSound(version);
    return await readWeights(this.folderOf(version), this.files);
  }

  /** @throws HindcastError `disk-full` when the next version has no room */
  async assertRoom(): Promise<void> {
    await assertRoom(this.folder, versionBytes(this.files));
  }

  /**
   * Writes a version and puts it in place by one rename. Its turns are trained from that moment on.
   *
   * @throws HindcastError `disk-full` when it has no room; then nothing of it is left
   */
  async commit(manifest: NewManifest, state: TrainingState, record: StepRecord): Promise<Manifest> {
    const { version } = manifest;
    await this.assertRoom();
    const folder = join(this.folder, `.${versionFolder(version)}.${randomUUID()}.tmp`);
    let complete: Manifest;
    try {
      complete = await this.write(folder, manifest, state, record);
      await rename(folder, this.folderOf(version));
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw asDiskFull(this.folder, error);
    }
    crashPoint('after-rename');
    this.remember(complete);
    this.newest = { version, state };
    await flushFolder(this.folder);
    return complete;
  }

  /** Records what became of a version. */
  async settle(
    version: number,
    state: Exclude<Manifest['state'], 'committed'>,
    reason: string | null,
    metrics: Manifest['metrics'],
  ): Promise<Manifest> {
    const manifest = this.get(version);
    const settled = Manifest.parse({ ...manifest, state, reason, metrics: { ...manifest.metrics, ...metrics } });
    await writeAtomically(join(this.folderOf(version), MANIFEST), manifestText(settled));
    this.remember(settled);
    return settled;
  }

  /** The batch that a step was begun with before a crash; `null` when none is open. */
  async nextBatch(): Promise<NextBatch | null> {
    const batch = await readNextBatch(this.folder);
    return batch?.turnIds.some((turnId) => this.trained.has(turnId)) ? null : batch;
  }

  async writeNextBatch(batch: NextBatch): Promise<void> {
    await writeAtomically(join(this.folder, NEXT_BATCH), JSON.stringify(batch));
  }

  async clearNextBatch(): Promise<void> {
    await rm(join(this.folder, NEXT_BATCH), { force: true });
  }

  /** Deletes the weights of old versions. Manifests, records of steps and what others put there stay. */
  async cleanUp(keep: number): Promise<void> {
    for (const version of deletableVersions(this.all(), keep))
      await removeFiles(this.folderOf(version), this.weightFiles(version));
  }

  /** Versions that a clean-up with this `keep` leaves and whose weights are there, newest first. */
  async kept(keep: number): Promise<number[]> {
    const deletable = new Set(deletableVersions(this.all(), keep));
    const left = this.all().flatMap(({ version }) => (deletable.has(version) ? [] : [version]));
    const isThere = await Promise.all(left.map((version) => this.hasWeights(version)));
    return left.filter((_, at) => isThere[at]).sort((a, b) => b - a);
  }

  /** Whether a version's weights are still there. */
  async hasWeights(version: number): Promise<boolean> {
    return await hasFiles(this.folderOf(version), this.weightFiles(version));
  }

  /** What is wrong with a version's files, or `null`. Reads all of them. */
  async damageOf(version: number): Promise<string | null> {
    return version === 0 ? null : await damageOf(this.folderOf(version), this.get(version).checksums, [STEP]);
  }

  private async assertSound(version: number): Promise<void> {
    const damage = await this.damageOf(version);
    if (damage !== null) throw new HindcastError('policy-damaged', `version ${version}: ${damage}`);
  }

  private async write(
    folder: string,
    manifest: NewManifest,
    state: TrainingState,
    record: StepRecord,
  ): Promise<Manifest> {
    await mkdir(folder);
    await writeWeights(folder, state.weights, this.files);
    await writeOptimizer(folder, state.weights, state.optimizer, this.files.maxShardBytes);
    await writeAtomically(join(folder, STEP), JSON.stringify(record));
    const checksums = await folderChecksums(folder);
    const complete = Manifest.parse({ ...manifest, v: 1, state: 'committed', reason: null, checksums });
    await writeAtomically(join(folder, MANIFEST), manifestText(complete));
    await flushFolder(folder);
    return complete;
  }

  private async load(): Promise<void> {
    await removeLeftovers(this.folder);
    this.floor = await readFloor(this.folder);
    for (const manifest of await readManifests(this.folder)) this.remember(manifest);
    await readNextBatch(this.folder);
    for (const { version, state, hyperparameters } of this.all())
      if (version === this.servedVersion || state === 'committed') this.assertTuning(version, hyperparameters);
  }

  private assertTuning(version: number, hyperparameters: Manifest['hyperparameters']): void {
    const settings = settingsToGoOn(hyperparameters, this.tuning);
    if (settings === null) return;
    throw new HindcastError(
      'config-invalid',
      `${this.folderOf(version)} was trained otherwise; set ${settings} to go on from it, or another POLICY_DIR to begin anew`,
    );
  }

  /** Weights and optimizer. */
  private weightFiles(version: number): string[] {
    return Object.keys(this.get(version).checksums).filter((name) => name !== STEP);
  }

  private remember(manifest: Manifest): void {
    this.manifests.set(manifest.version, manifest);
    for (const turnId of manifest.turnIds) this.trained.set(turnId, manifest.version);
  }

  /** Rewards seen count whatever became of the version that saw them. */
  private progress(): Progress {
    return this.all().at(-1)?.progress ?? INITIAL_PROGRESS;
  }
}

const manifestText = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`;
