import { Injectable } from '@nestjs/common';
import { Metrics } from '@hindcast/platform';
import type { Caller } from './core/api-keys';
import type { CompletedAnswer } from './core/answer';
import { admit, charged, unused, type Admission, type KeyUse } from './core/rate-limit';

/** What an answer says of its tokens. */
type Counted = Pick<CompletedAnswer, 'usage' | 'promptIds' | 'sampledIds'>;

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

  /** Whether somebody has to say how many tokens the caller's answers have. */
  counts({ limits }: Caller): boolean {
    return limits.tokensPerMinute !== null;
  }

  /**
   * An answer to the caller is over, complete or not: takes its tokens, of all choices together.
   *
   * @param seen tokens that came of an answer that nobody counted, as when its client leaves before the usage
   */
  charge(caller: Caller, answer: Counted | undefined, seen = 0): void {
    if (!this.counts(caller)) return;
    const tokens = (answer ? tokensOf(answer) : null) ?? (seen > 0 ? seen : null);
    if (tokens === null) return this.uncounted.inc();
    const use = this.uses.get(caller.name) ?? unused;
    this.uses.set(caller.name, charged(use, caller.limits, tokens, performance.now()));
  }
}

/** As the engine counted them, else the ids that it gave; `null` when neither is whole. */
function tokensOf({ usage, promptIds, sampledIds }: Counted): number | null {
  if (usage) return usage.promptTokens + usage.completionTokens;
  return promptIds && sampledIds !== null ? promptIds.length + sampledIds : null;
}
