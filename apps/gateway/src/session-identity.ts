import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, identitySecret, sessionIdOf, userIdOf } from '@hindcast/platform';
import type { GatewayConfig } from './config';

/** Replaces a client's session and user ids by HMACs of tenant and id. Only these leave the gateway. */
@Injectable()
export class SessionIdentity {
  private readonly secret: Buffer;

  constructor(@Inject(CONFIG) config: GatewayConfig) {
    this.secret = identitySecret(config);
  }

  /** `null` when the client named no session. */
  sessionId(tenant: string, rawSessionId: string | null): string | null {
    return rawSessionId === null ? null : sessionIdOf(this.secret, tenant, rawSessionId);
  }

  /** `null` when the client named no user. */
  userId(tenant: string, rawUserId: string | null): string | null {
    return rawUserId === null ? null : userIdOf(this.secret, tenant, rawUserId);
  }
}
