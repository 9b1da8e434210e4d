import { adapterVersion } from './route-model';

/** What an engine says its only weights are: the trainer's label, another text or nothing. */
export type WeightsLabel = string | null;

/** Said for a server that knows no labels: nobody can replace its weights either. */
export const NO_LABELS = 'no-labels';

/** What the board says of the version that serves. */
interface Served {
  readonly version: number;
  readonly weights: 'named' | 'replaced';
}

/** The trainer's, while an update of the weights has not ended well. */
const UNKNOWN_WEIGHTS = 'hindcast-unknown';

/**
 * Version of an answer that the base model's name gave, where the weights behind that name can be replaced; `null`: nobody knows.
 *
 *   labels before and after differ         null: the weights were replaced while it answered, or between
 *   the trainer's label (`name@moment`)    its version
 *   the trainer's mark of a broken update  null
 *   no label of ours, version 0 serves     0: what the engine was started with, also of a server that knows no labels
 *   no label of ours, a later one serves   null: the engine was restarted and not yet given the version
 *
 * @param before read before the request was sent
 * @param after  read after the answer was over
 */
export function weightsVersion(before: WeightsLabel, after: WeightsLabel, served: Served): number | null {
  if (before !== after || after === UNKNOWN_WEIGHTS) return null;
  const version = after === null ? null : adapterVersion(after.split('@')[0]!);
  if (version !== null) return version;
  return served.weights === 'replaced' && served.version > 0 ? null : 0;
}
