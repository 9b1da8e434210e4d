/** What the judge was asked and paid for. */
export interface Spending {
  /** Requests. */
  readonly calls: number;
  /** Prompt and completion tokens. */
  readonly tokens: number;
  /** In the currency of the prices. */
  readonly cost: number;
}

/** The most that may be spent within any hour; `null` where there is no limit. */
export type Budget = { readonly [Unit in keyof Spending]: number | null };

/** Spending by the minute in which it was admitted, oldest first: `[minutes since the epoch, calls, tokens, cost]`. */
export type Account = readonly (readonly [minute: number, calls: number, tokens: number, cost: number])[];

export const UNITS = ['calls', 'tokens', 'cost'] as const satisfies readonly (keyof Spending)[];
export const MINUTE_MS = 60_000;
/** The window that a budget is for, minutes. */
const WINDOW = 60;

/** The account without what the window has left behind. @param now milliseconds */
export function recent(account: Account, now: number): Account {
  const oldest = minuteOf(now) - WINDOW;
  return account[0] !== undefined && account[0][0] <= oldest ? account.filter(([minute]) => minute > oldest) : account;
}

/** Sum over the window. */
export function spent(account: Account, now: number): Spending {
  let [calls, tokens, cost] = [0, 0, 0];
  for (const [, someCalls, someTokens, someCost] of recent(account, now)) {
    calls += someCalls;
    tokens += someTokens;
    cost += someCost;
  }
  return { calls, tokens, cost };
}

/**
 * Time until `need` fits into the budget, ms; 0 when it fits now. What alone exceeds the budget fits once the window is empty: it is
 * let through then, because it would wait for ever otherwise.
 */
export function waitFor(account: Account, budget: Budget, need: Spending, now: number): number {
  let left = recent(account, now);
  for (;;) {
    if (left.length === 0 || fits(spent(left, now), budget, need)) break;
    left = left.slice(1);
  }
  const kept = recent(account, now);
  const last = kept[kept.length - left.length - 1];
  return last === undefined ? 0 : (last[0] + WINDOW) * MINUTE_MS - now;
}

/** The account with `amount`, which may be negative, added to the minute of `at`. @param at when it was admitted, ms */
export function charge(account: Account, amount: Spending, at: number, now: number): Account {
  const minute = minuteOf(at);
  const kept = recent(account, now);
  if (minute <= minuteOf(now) - WINDOW) return kept;
  const { calls, tokens, cost } = amount;
  const known = kept.find(([one]) => one === minute);
  if (!known) return [...kept, [minute, calls, tokens, cost] as const].sort(([a], [b]) => a - b);
  return kept.map((one) => (one === known ? ([minute, one[1] + calls, one[2] + tokens, one[3] + cost] as const) : one));
}

/** What requests will probably take: the mean of the window, where it has any, else the guess. */
export function estimate(account: Account, guess: Spending, now: number): Spending {
  const so = spent(account, now);
  if (so.calls <= 0) return guess;
  const scale = guess.calls / so.calls;
  return { calls: guess.calls, tokens: Math.ceil(so.tokens * scale), cost: so.cost * scale };
}

/** First guess of a vote: characters of a token, tokens of a reply. */
const TOKEN_CHARS = 4;
const REPLY_TOKENS = 500;

/** What votes on a prompt will take, by its size alone. @param chars characters of the prompt */
export function guessOf(
  votes: number,
  chars: number,
  maxTokens: number,
  prices: { readonly prompt: number; readonly completion: number } | null,
): Spending {
  const prompt = Math.ceil(chars / TOKEN_CHARS);
  const completion = Math.min(maxTokens, REPLY_TOKENS);
  const cost = prices ? (prompt * prices.prompt + completion * prices.completion) / 1_000_000 : 0;
  return { calls: votes, tokens: votes * (prompt + completion), cost: votes * cost };
}

/** What is known of a vote once it came, or did not. */
export interface VoteBill {
  /** Requests that were sent for it. */
  readonly calls: number;
  readonly failed: string | null;
  /** Its deadline cut a request off, on which the judge may have worked. */
  readonly cutOff: boolean;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly cost: number | null;
}

/**
 * What votes took. Where the judge did not count, and where a vote ran into its deadline while the judge worked on it, the share that
 * was set aside stands; a vote that the judge refused took no tokens.
 */
export function took(bills: readonly VoteBill[], reserved: Spending): Spending {
  const share = { tokens: reserved.tokens / bills.length, cost: reserved.cost / bills.length };
  let [calls, tokens, cost] = [0, 0, 0];
  for (const bill of bills) {
    calls += bill.calls;
    const unknown = bill.failed === null || bill.cutOff;
    const counted = bill.promptTokens !== null && bill.completionTokens !== null;
    tokens += counted ? bill.promptTokens! + bill.completionTokens! : unknown ? share.tokens : 0;
    cost += bill.cost ?? (unknown ? share.cost : 0);
  }
  return { calls, tokens, cost };
}

/** What is left of each limited unit, never below 0. */
export function left(account: Account, budget: Budget, now: number): Partial<Spending> {
  const so = spent(account, now);
  return Object.fromEntries(
    UNITS.filter((unit) => budget[unit] !== null).map((unit) => [unit, Math.max(0, budget[unit]! - so[unit])]),
  );
}

function fits(so: Spending, budget: Budget, need: Spending): boolean {
  return UNITS.every((unit) => {
    const limit = budget[unit];
    // Sums of money are sums of fractions: a billionth is no overdraft.
    return limit === null || so[unit] + need[unit] <= limit * (1 + 1e-9);
  });
}

const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS);
