import { Injectable } from '@nestjs/common';
import { Metrics } from '@hindcast/platform';
import type { Caller } from './core/api-keys';
import type { CompletedAnswer } from './core/answer';
import { admit, charged, unused, type Admission, type KeyUse } from './core/rate-limit';

/** The tokens of an answer: as the engine counted them, else the ids that it gave; `null` when neither is whole. */
type Counted = Pick<CompletedAnswer, 'usage' | 'promptIds' | 'responseIds'>;

/** Counts requests and tokens of each key's name. Each gateway counts for itself. */
@Injectable()
export class KeyLimits {
  private readonly uses = new Map<string, KeyUse>();
  private readonly refused;
  private readonly uncounted;

  constructor(metrics: Metrics) {
    this.refused = metrics.counter(
      'requests_over_limit_total',
      'Requests refused because a limit of their key was reached',
      ['limit'],
    );
    this.uncounted = metrics.counter(
      'uncounted_answers_total',
      'Answers to keys with a token limit that cost nothing because nobody counted their tokens',
    );
  }

  /** Takes a request of the caller, or says how long it has to wait. */
  admit({ name, limits }: Caller): Admission {
    const admission = admit(this.uses.get(name) ?? unused, limits, performance.now());
    this.uses.set(name, admission.use);
    if (admission.reached !== null) this.refused.inc({ limit: admission.reached });
    return admission;
  }

  /** An answer to the caller is over, complete or not: takes its tokens. */
  charge({ name, limits }: Caller, answer: Counted): void {
    if (limits.tokensPerMinute === null) return;
    const tokens = tokensOf(answer);
    if (tokens === null) return this.uncounted.inc();
    this.uses.set(name, charged(this.uses.get(name) ?? unused, limits, tokens, performance.now()));
  }
}

function tokensOf({ usage, promptIds, responseIds }: Counted): number | null {
  if (usage) return usage.promptTokens + usage.completionTokens;
  return promptIds && responseIds ? promptIds.length + responseIds.length : null;
}
