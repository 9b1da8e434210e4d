import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { CONFIG, Log } from '@hindcast/platform';
import type { GatewayConfig } from './config';
import type { PairTexts } from './core/judge-texts';
import { holdsRedacted, redactPersonalData, redactTexts, type Redact } from './core/redaction';

/** Stands for a text that a failing redaction could not vouch for. */
const WITHHELD = '[text withheld: its redaction failed]';

/** Keeps personal data out of what is stored, as REDACTION says: not at all, by the built-in patterns, or by a module of the operator's. */
@Injectable()
export class Redaction implements OnModuleInit {
  private redact: Redact | null = null;

  constructor(
    @Inject(CONFIG) private readonly config: GatewayConfig,
    private readonly log: Log,
  ) {}

  /** @throws HindcastError `config-invalid` when the module cannot be used */
  async onModuleInit(): Promise<void> {
    const { REDACTION } = this.config;
    if (REDACTION === 'builtin') this.redact = redactPersonalData;
    else if (REDACTION !== 'off') this.redact = this.guarded(await loadRedact(REDACTION));
  }

  /** Whether there is anything that must not be stored. */
  get isOn(): boolean {
    return this.redact !== null;
  }

  text<T extends string | null>(text: T): T {
    return (this.redact && text !== null ? this.redact(text) : text) as T;
  }

  texts(texts: PairTexts): PairTexts {
    return this.redact ? redactTexts(texts, this.redact) : texts;
  }

  /** Whether one of these holds what must not be stored. Its token ids would hold it too, and cannot be redacted. */
  holds(...values: unknown[]): boolean {
    const { redact } = this;
    return redact !== null && values.some((value) => holdsRedacted(value, redact));
  }

  /** Fails closed: a text that could not be looked at is not stored. */
  private guarded(redact: Redact): Redact {
    return (text) => {
      try {
        const redacted: unknown = redact(text);
        if (typeof redacted === 'string') return redacted;
      } catch (error) {
        this.log.error('redaction.failed', { error });
      }
      return WITHHELD;
    };
  }
}

async function loadRedact(path: string): Promise<Redact> {
  let loaded: { redact?: unknown; default?: unknown };
  try {
    loaded = (await import(pathToFileURL(resolve(path)).href)) as typeof loaded;
  } catch (cause) {
    throw new HindcastError('config-invalid', `REDACTION: ${path} cannot be loaded`, { cause });
  }
  const inner = loaded.default as { redact?: unknown } | undefined;
  const redact = loaded.redact ?? inner?.redact;
  if (typeof redact !== 'function')
    throw new HindcastError('config-invalid', `REDACTION: ${path} exports no function redact(text)`);
  return redact as Redact;
}
