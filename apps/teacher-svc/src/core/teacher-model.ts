import type { CurrentPolicy } from '@hindcast/contracts';

/** Value of `TEACHER_MODEL` for the version that serves. */
export const CURRENT = 'current';

/** Which weights score. */
export interface TeacherModel {
  /** Name of the model, or of the base model behind an adapter. */
  readonly base: string;
  /** Adapter of a policy version; null: `base` itself. */
  readonly adapter: string | null;
  /** Version whose weights answer to the name `base`, where the trainer replaces them. */
  readonly replacedBy?: string;
}

/** Name that is recorded with the log-probs: the weights that gave them. */
export const recordedName = ({ base, adapter, replacedBy }: TeacherModel): string => adapter ?? replacedBy ?? base;

/** The version that serves, as the engines know it. */
export function modelOf(
  base: string,
  { version, adapter, weights }: Pick<CurrentPolicy, 'version' | 'adapter' | 'weights'>,
): TeacherModel {
  if (weights === 'named' || version === 0) return { base, adapter };
  return { base, adapter, replacedBy: `hindcast-v${String(version).padStart(6, '0')}` };
}

const ADAPTER = /^hindcast-v(\d{6,9})$/;

/**
 * What scores where the engine lacks an adapter, as after its restart: its newest version, or the base model.
 *
 * @param listed model names of the engine; SGLang lists an adapter as `base:adapter`
 */
export function substitute({ base, adapter }: TeacherModel, listed: readonly string[]): TeacherModel {
  const versions = listed
    .map((name) => name.slice(name.lastIndexOf(':') + 1))
    .filter((name) => name !== adapter && ADAPTER.test(name))
    .sort((a, b) => Number(ADAPTER.exec(b)![1]) - Number(ADAPTER.exec(a)![1]));
  return { base, adapter: versions[0] ?? null };
}

/** Whether a list of the engine's models names the adapter. */
export const lists = (listed: readonly string[], adapter: string): boolean =>
  listed.some((name) => name.slice(name.lastIndexOf(':') + 1) === adapter);
