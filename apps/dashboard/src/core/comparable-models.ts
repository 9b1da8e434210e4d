import type { CurrentPolicy, VersionRow } from '@hindcast/contracts';

export interface ComparableModel {
  /** What `/v1/chat/completions` is asked for. */
  readonly model: string;
  /** Version behind the name; `null` for the base model, and for a name that is none of the versions at hand. */
  readonly version: number | null;
  readonly label: string;
}

const ADAPTER = /^hindcast-v0*(\d+)$/;

/**
 * Names that an engine has at this moment, versions first, newest first, then the others, such as the base model. Any other name would be answered by
 * the version that serves, and the comparison would compare it with itself.
 */
export function comparableModels(
  engineModels: readonly (readonly string[])[],
  rows: readonly Pick<VersionRow, 'version' | 'adapter'>[],
  current: Pick<CurrentPolicy, 'version' | 'weights'>,
): ComparableModel[] {
  const byAdapter = new Map(rows.map(({ adapter, version }) => [adapter, version]));
  return [...new Set(engineModels.flat())]
    .map((model) => {
      const written = ADAPTER.exec(model)?.[1];
      const version = byAdapter.get(model) ?? (written === undefined ? null : Number(written));
      return { model, version, label: labelOf(model, version, current) };
    })
    .sort((a, b) => (b.version ?? -1) - (a.version ?? -1) || a.model.localeCompare(b.model));
}

function labelOf(model: string, version: number | null, current: Pick<CurrentPolicy, 'version' | 'weights'>): string {
  if (version !== null) return `version ${version}${version === current.version ? ', serves now' : ''}`;
  if (current.weights === 'replaced') return `${model}, version ${current.version}, serves now`;
  return `${model}, base model${current.version === 0 ? ', serves now' : ''}`;
}

/** What is compared at first: the base model, or else the oldest, beside what serves now. */
export function firstPair(
  models: readonly ComparableModel[],
  current: Pick<CurrentPolicy, 'version'>,
): readonly [string, string] | null {
  const left = models.at(-1);
  const right = models.find(({ version }) => version === current.version) ?? models[0];
  return left === undefined || right === undefined ? null : [left.model, right.model];
}

/** A model's label without what may change while its answer stands there. */
export const lastingLabel = (label: string): string => label.replace(/, serves now$/, '');

const SEED = 'seed';
const DEMO_PROMPTS = ['What is a planet?', 'What is a volcano?', 'I would like to keep my room tidy. What helps?'];

/** Questions that the demo's model was taught; none for any other model. */
export const demoPrompts = (models: readonly ComparableModel[]): readonly string[] =>
  models.some(({ model, version }) => model === SEED && version === null) ? DEMO_PROMPTS : [];
