import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Checkpoints of transformers, adapters of peft, and their numbers: written by tools/reference/make_fixtures.py. */
const FIXTURES = join(__dirname, '../../../../tools/reference/fixtures');

export interface Reference {
  /** `[B, T]`, padded on the right. */
  readonly ids: number[][];
  /** Tokens of each row that are none of padding. */
  readonly lengths: number[];
  /** Of each row's tokens but the first, nats. */
  readonly logProbs: number[][];
  readonly entropies: number[][];
  /** With the adapter beside the weights. */
  readonly adapterLogProbs: number[][];
}

export interface SeedReference {
  readonly modelSha256: string;
  readonly references: { ids: number[]; logProbs: number[]; entropies: number[] }[];
}

export const referenceDir = (name: string): string => join(FIXTURES, name);

/** Every checkpoint but the seed model's, which stands in models/seed. */
export const referenceNames: readonly string[] = readdirSync(FIXTURES).filter((name) => name !== 'seed');

export const reference = <T = Reference>(name: string): T =>
  JSON.parse(readFileSync(join(FIXTURES, name, 'reference.json'), 'utf8')) as T;
