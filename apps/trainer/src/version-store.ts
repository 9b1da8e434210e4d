import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile, mkdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { HindcastError } from '@hindcast/contracts';
import {
  initLora,
  readPeftAdapter,
  readSafetensors,
  readSafetensorsHeader,
  writeAtomically,
  writePeftAdapter,
  writeSafetensors,
  type HostTensor,
  type LlamaConfig,
} from '@hindcast/language-model';
import { crashPoint } from '@hindcast/platform';
import { z } from 'zod';
import { initialAdamState, type AdamState } from './core/adam';
import { NextBatch } from './core/batch-plan';
import { deletableVersions, Manifest, nextVersion, publishedVersion, versionFolder } from './core/manifest';
import { INITIAL_PROGRESS, type Progress } from './core/progress';
import type { StepRecord } from './core/step-record';
import type { TrainingState } from './core/train-step';
import type { LoraTuning, TrainedWeights } from './core/tuning';
import { flushFolder, readJsonIfPresent } from './durable-file';
import { PolicyLock } from './policy-lock';

const MANIFEST = 'manifest.json';
const OPTIMIZER = 'optimizer.safetensors';
const STEP = 'step.json';
const NEXT_BATCH = 'next-batch.json';
const NUMBERING = 'numbering.json';

const Numbering = z.strictObject({ v: z.literal(1), above: z.int().nonnegative() });

export interface PolicyFiles {
  readonly config: LlamaConfig;
  /** Name or path of the base model, for the adapter's own files. */
  readonly baseModel: string;
  readonly tuning: LoraTuning;
  /** Seed of the first adapter's A. */
  readonly seed: number;
}

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

  private constructor(
    readonly folder: string,
    private readonly shape: PolicyFiles,
    private readonly lock: PolicyLock,
  ) {}

  /** Takes the folder's lock and reads every manifest. */
  static async open(folder: string, shape: PolicyFiles): Promise<VersionStore> {
    const path = resolve(folder);
    await mkdir(path, { recursive: true });
    const lock = await PolicyLock.acquire(path);
    const store = new VersionStore(path, shape, lock);
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

  folderOf(version: number): string {
    return join(this.folder, versionFolder(version));
  }

  /** Version 0 is the base model: a fresh adapter that changes nothing, and an empty optimizer. */
  async stateOf(version: number): Promise<TrainingState> {
    const progress = this.progress();
    if (version === 0) {
      const { config, tuning, seed } = this.shape;
      const { rank, alpha, targets } = tuning;
      const weights = floatTensors(initLora(config, { rank, alpha, targetModules: targets, seed }));
      return { weights, optimizer: initialAdamState(arraysOf(weights)), progress };
    }
    const folder = this.folderOf(version);
    await this.verify(version);
    const { tensors, rank, alpha } = await readPeftAdapter(folder, this.shape.config);
    const { tuning } = this.shape;
    if (rank !== tuning.rank || alpha !== tuning.alpha) {
      throw new HindcastError(
        'config-invalid',
        `${folder} has rank ${rank} and alpha ${alpha}, LORA_RANK and LORA_ALPHA say ${tuning.rank} and ${tuning.alpha}`,
      );
    }
    return { weights: floatTensors(tensors), optimizer: await readOptimizer(join(folder, OPTIMIZER)), progress };
  }

  /** A version's trained weights, for scoring. */
  async weightsOf(version: number): Promise<TrainedWeights> {
    return (await this.stateOf(version)).weights;
  }

  /** Writes a version and puts it in place by one rename. Its turns are trained from that moment on. */
  async commit(manifest: NewManifest, state: TrainingState, record: StepRecord): Promise<Manifest> {
    const { version } = manifest;
    const folder = join(this.folder, `.${versionFolder(version)}.${randomUUID()}.tmp`);
    await mkdir(folder);
    await writePeftAdapter(folder, {
      rank: this.shape.tuning.rank,
      alpha: this.shape.tuning.alpha,
      baseModel: this.shape.baseModel,
      targetModules: this.shape.tuning.targets,
      tensors: state.weights,
    });
    await writeOptimizer(join(folder, OPTIMIZER), state);
    await writeAtomically(join(folder, STEP), JSON.stringify(record));
    const checksums: Record<string, string> = {};
    for (const name of (await readdir(folder)).sort()) checksums[name] = await sha256(join(folder, name));
    const complete = Manifest.parse({ ...manifest, v: 1, state: 'committed', reason: null, checksums });
    await writeAtomically(join(folder, MANIFEST), manifestText(complete));
    await flushFolder(folder);
    await rename(folder, this.folderOf(version));
    crashPoint('after-rename');
    this.remember(complete);
    await flushFolder(this.folder);
    return complete;
  }

  /** Records what became of a version. */
  async settle(
    version: number,
    state: 'published' | 'refused',
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
    const batch = await readJsonIfPresent(join(this.folder, NEXT_BATCH), NextBatch);
    return batch?.turnIds.some((turnId) => this.trained.has(turnId)) ? null : batch;
  }

  async writeNextBatch(batch: NextBatch): Promise<void> {
    await writeAtomically(join(this.folder, NEXT_BATCH), JSON.stringify(batch));
  }

  async clearNextBatch(): Promise<void> {
    await rm(join(this.folder, NEXT_BATCH), { force: true });
  }

  /** Deletes the weights of old versions. Manifests and records of steps stay. */
  async cleanUp(keep: number): Promise<void> {
    for (const version of deletableVersions(this.all(), keep)) {
      const folder = this.folderOf(version);
      for (const name of await readdir(folder)) {
        if (name !== MANIFEST && name !== STEP) await rm(join(folder, name), { force: true });
      }
    }
  }

  /** Whether a version's weights are still there. */
  async hasWeights(version: number): Promise<boolean> {
    return (await readdir(this.folderOf(version))).includes('adapter_model.safetensors');
  }

  private async load(): Promise<void> {
    this.floor = (await readJsonIfPresent(join(this.folder, NUMBERING), Numbering))?.above ?? 0;
    for (const name of await readdir(this.folder)) {
      // A version that was being written when the process died was never there.
      if (/^\.v\d+\..*\.tmp$/.test(name)) await rm(join(this.folder, name), { recursive: true, force: true });
      if (!/^v\d{6,}$/.test(name)) continue;
      const path = join(this.folder, name, MANIFEST);
      const manifest = await readJsonIfPresent(path, Manifest);
      if (!manifest)
        throw new RangeError(`${path} is missing: its version cannot be left out, for its turns were trained`);
      this.remember(manifest);
    }
  }

  private remember(manifest: Manifest): void {
    this.manifests.set(manifest.version, manifest);
    for (const turnId of manifest.turnIds) this.trained.set(turnId, manifest.version);
  }

  /** Rewards seen count whatever became of the version that saw them. */
  private progress(): Progress {
    return this.all().at(-1)?.progress ?? INITIAL_PROGRESS;
  }

  private async verify(version: number): Promise<void> {
    for (const [name, expected] of Object.entries(this.get(version).checksums)) {
      if (name === STEP) continue;
      const path = join(this.folderOf(version), name);
      if ((await sha256(path)) !== expected) throw new RangeError(`${path} is not the file that was committed`);
    }
  }
}

async function writeOptimizer(path: string, { weights, optimizer }: TrainingState): Promise<void> {
  const tensors = new Map<string, HostTensor>();
  for (const [name, { shape }] of weights) {
    tensors.set(`first.${name}`, { dtype: 'float32', shape, data: optimizer.first.get(name)! });
    tensors.set(`second.${name}`, { dtype: 'float32', shape, data: optimizer.second.get(name)! });
  }
  await writeSafetensors(path, tensors, { step: String(optimizer.step) });
}

async function readOptimizer(path: string): Promise<AdamState> {
  const step = Number((await readSafetensorsHeader(path)).metadata['step']);
  if (!Number.isInteger(step)) throw new RangeError(`${path} does not say its step`);
  const tensors = arraysOf(floatTensors(await readSafetensors(path)));
  const moments = (prefix: string): ReadonlyMap<string, Float32Array> =>
    new Map(
      [...tensors]
        .filter(([name]) => name.startsWith(prefix))
        .map(([name, values]) => [name.slice(prefix.length), values]),
    );
  return { step, first: moments('first.'), second: moments('second.') };
}

function floatTensors(tensors: ReadonlyMap<string, HostTensor>): TrainedWeights {
  return new Map(
    [...tensors].map(([name, tensor]) => {
      if (tensor.dtype !== 'float32') throw new RangeError(`${name} is ${tensor.dtype}, not float32`);
      return [name, tensor];
    }),
  );
}

function arraysOf(tensors: TrainedWeights): ReadonlyMap<string, Float32Array> {
  return new Map([...tensors].map(([name, { data }]) => [name, data]));
}

const manifestText = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`;

async function sha256(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}
