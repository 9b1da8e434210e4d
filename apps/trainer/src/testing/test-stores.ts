import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TrainingState } from '../core/train-step';
import type { PolicyFiles } from '../version-files';
import { VersionStore } from '../version-store';
import { loraTuning, newManifest, SEED_MODEL, seedModel } from './fixtures';

/** The record of a step without samples. */
export const record = {
  v: 1 as const,
  version: 1,
  weights: { rl: 1, opd: 1 },
  clip: { epsilonLow: 0.2, epsilonHigh: 0.28 },
  samples: [],
};

/** Stores of the seed model, on a folder of each test's own. */
export class TestStores {
  private folder = '';
  private readonly opened: VersionStore[] = [];

  /** @returns the test's folder */
  begin(): string {
    this.folder = mkdtempSync(join(tmpdir(), 'hindcast-store-'));
    return this.folder;
  }

  async end(): Promise<void> {
    for (const store of this.opened.splice(0)) await store.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  readonly open = async (over: Partial<PolicyFiles> = {}): Promise<VersionStore> => {
    const shape = { config: (await seedModel()).config, baseModel: SEED_MODEL, tuning: loraTuning(), seed: 0 };
    const store = await VersionStore.open(this.folder, { ...shape, ...over });
    this.opened.push(store);
    return store;
  };

  readonly reopen = async (over: Partial<PolicyFiles> = {}): Promise<VersionStore> => {
    for (const store of this.opened.splice(0)) await store.close();
    return await this.open(over);
  };

  /** Commits what a step made of the base model that moved one tensor by `version`. */
  readonly commit = async (store: VersionStore, version: number): Promise<TrainingState> => {
    const state = await store.stateOf(0);
    const first = [...state.weights.keys()][0]!;
    const moved = {
      ...state,
      weights: new Map(state.weights).set(first, {
        ...state.weights.get(first)!,
        data: state.weights.get(first)!.data.map((x) => x + version),
      }),
      optimizer: { ...state.optimizer, step: version },
      progress: { ...state.progress, rewardBaseline: version },
    };
    await store.commit(newManifest(version, moved, store.tuning), moved, record);
    return moved;
  };
}
