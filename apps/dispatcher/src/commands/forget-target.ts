import { createHash } from 'node:crypto';
import { HindcastError, SessionId, TurnId } from '@hindcast/contracts';
import { knownIdentitySecret, sessionIdOf, userIdOf } from '@hindcast/platform';

/** What is to be forgotten. The sets grow by what is found on the way. */
export interface ForgetTarget {
  readonly selector: 'session' | 'user' | 'turn' | 'tenant';
  /** Names the request in the tombstone without saying whose it was. */
  readonly hash: string;
  /** `null`: whichever it is. */
  readonly tenant: string | null;
  readonly turnIds: Set<string>;
  /** Sessions of which nothing is to be left: the one named, or those that have no other turns. */
  readonly sessionIds: Set<string>;
  readonly userIds: ReadonlySet<string>;
}

export interface ForgetFlags {
  readonly session?: string;
  readonly user?: string;
  readonly turn?: string;
  readonly tenant?: string;
}

/** Owner of what comes without a key. */
const OPEN_MODE_TENANT = 'default';

/**
 * The target that the flags name. A session or user is given as the client named it, or as the ledger and exports show it; what could be
 * either is looked for as both.
 *
 * @throws HindcastError `invalid-request` unless exactly one thing is named; `config-invalid` where the gateways' key is needed and missing
 */
export function forgetTarget(
  flags: ForgetFlags,
  source: { readonly SESSION_SECRET: string | undefined; readonly DATA_DIR: string },
): ForgetTarget {
  const { session, user, turn, tenant } = flags;
  const named = [session, user, turn].filter((value) => value !== undefined);
  if (named.length > 1 || (named.length === 0 && tenant === undefined))
    throw new HindcastError('invalid-request', 'name one of --session, --user, --turn, or a whole --tenant');
  if (turn !== undefined && !TurnId.safeParse(turn).success)
    throw new HindcastError('invalid-request', `--turn ${turn} is not the id of a turn`);
  const identities = (raw: string | undefined, identityOf: typeof sessionIdOf): string[] => {
    if (raw === undefined) return [];
    const isIdentity = SessionId.safeParse(raw).success;
    try {
      return [identityOf(knownIdentitySecret(source), tenant ?? OPEN_MODE_TENANT, raw), ...(isIdentity ? [raw] : [])];
    } catch (error) {
      if (isIdentity) return [raw];
      throw error;
    }
  };
  const sessionIds = identities(session, sessionIdOf);
  const userIds = identities(user, userIdOf);
  const selector =
    turn !== undefined ? 'turn' : session !== undefined ? 'session' : user !== undefined ? 'user' : 'tenant';
  return {
    selector,
    hash: turn ?? sessionIds[0] ?? userIds[0] ?? createHash('sha256').update(tenant!).digest('hex').slice(0, 32),
    tenant: tenant ?? null,
    turnIds: new Set(turn === undefined ? [] : [turn]),
    sessionIds: new Set(sessionIds),
    userIds: new Set(userIds),
  };
}

/** What a message or a record says about whose it is; anything that is not there is `undefined`. */
export interface Owner {
  readonly turnId?: unknown;
  readonly tenant?: unknown;
  readonly sessionId?: unknown;
  readonly userId?: unknown;
}

/** Whether something belongs to the target. */
export function belongs(target: ForgetTarget, { turnId, tenant, sessionId, userId }: Owner): boolean {
  if (target.turnIds.has(turnId as string)) return true;
  if (target.tenant !== null && tenant !== undefined && tenant !== target.tenant) return false;
  switch (target.selector) {
    case 'tenant':
      return tenant === target.tenant;
    case 'session':
      return target.sessionIds.has(sessionId as string);
    case 'user':
      return target.userIds.has(userId as string);
    case 'turn':
      return false;
  }
}
