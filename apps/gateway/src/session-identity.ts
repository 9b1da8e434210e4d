import { createHmac, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from '@hindcast/platform';
import type { GatewayConfig } from './config';

/** Replaces a client's session id by an HMAC of tenant and id. Only this leaves the gateway. */
@Injectable()
export class SessionIdentity {
  private readonly secret: Buffer;

  constructor(@Inject(CONFIG) config: GatewayConfig) {
    this.secret = config.SESSION_SECRET ? Buffer.from(config.SESSION_SECRET) : keptSecret(config.DATA_DIR);
  }

  /** 32 hex digits; `null` when the client named no session. */
  sessionId(tenant: string, rawSessionId: string | null): string | null {
    if (rawSessionId === null) return null;
    return createHmac('sha256', this.secret)
      .update(JSON.stringify([tenant, rawSessionId]))
      .digest('hex')
      .slice(0, 32);
  }
}

/** The key in DATA_DIR, made at the first start. Gateways that start together agree on one: the first link wins. */
function keptSecret(dataDir: string): Buffer {
  const folder = resolve(dataDir);
  const path = join(folder, 'session.key');
  mkdirSync(folder, { recursive: true });
  for (;;) {
    try {
      const secret = Buffer.from(readFileSync(path, 'utf8').trim(), 'hex');
      if (secret.length < 16) throw new Error(`${path} does not hold a key; remove it to get a new one`);
      return secret;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    const draft = `${path}.${process.pid}.part`;
    const file = openSync(draft, 'w', 0o600);
    writeSync(file, randomBytes(32).toString('hex'));
    fsyncSync(file);
    closeSync(file);
    try {
      linkSync(draft, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  }
}
