import { Injectable } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { shownKeys, type Caller } from './core/api-keys';
import { KeyRing } from './key-ring';

/** Tenant in open mode, where the gateway serves a loopback address only. */
const OPEN_TENANT = 'default';

/** Knows who calls, by the keys that a request shows. */
@Injectable()
export class Callers {
  constructor(private readonly ring: KeyRing) {}

  /**
   * In open mode everybody is the one tenant and its administrator.
   *
   * @param prefersAdmin of several valid keys an administrator's counts, not the first
   * @throws HindcastError `unauthorized`
   */
  callerOf(headers: Readonly<Record<string, unknown>>, prefersAdmin = false): Caller {
    if (this.ring.isOpen)
      return { name: OPEN_TENANT, tenant: OPEN_TENANT, limits: this.ring.defaultLimits, isAdmin: true };
    const shown = shownKeys(headers);
    if (shown.length === 0)
      throw new HindcastError('unauthorized', 'an API key is needed: Authorization: Bearer <key>, or x-api-key');
    const known = this.ring.find(shown);
    if (known.length === 0) throw new HindcastError('unauthorized', 'the API key is not known');
    const valid = known.filter(({ expiresAt }) => expiresAt === null || expiresAt > Date.now());
    const key = (prefersAdmin ? valid.find(({ isAdmin }) => isAdmin) : undefined) ?? valid[0];
    if (!key) throw new HindcastError('unauthorized', 'the API key has expired');
    return key;
  }
}
