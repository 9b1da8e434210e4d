import type { CurrentPolicy } from '@hindcast/contracts';
import type { Sha256 } from './canonical-conversation';

/** A version that may answer: the model name it goes by, and the engines that hold it. */
export interface ChosenPolicy {
  readonly version: number;
  readonly adapter: string | null;
  readonly engines: readonly string[];
}

const HEX_DIGITS = 12;

/**
 * Which version answers a conversation: the one that serves, or for a share of the conversations the one on trial.
 *
 * A conversation falls on the same side at every gateway and for as long as the trial lasts: its key's hash together with the version
 * is a number in [0, 1), and those below the share are on trial. Another version's trial meets other conversations.
 *
 * @param stickyTo what stays the same in a conversation; `null`: nothing is known of it, and what serves answers
 */
export function choosePolicy(
  { version, adapter, engines, canary }: CurrentPolicy,
  stickyTo: string | null,
  sha256: Sha256,
): ChosenPolicy {
  const isOnTrial =
    canary !== null && stickyTo !== null && place(`${canary.version}\n${stickyTo}`, sha256) < canary.share;
  return isOnTrial ? canary : { version, adapter, engines };
}

/** A number in [0, 1) that only the text decides. */
function place(text: string, sha256: Sha256): number {
  return parseInt(sha256(text).slice(0, HEX_DIGITS), 16) / 16 ** HEX_DIGITS;
}
