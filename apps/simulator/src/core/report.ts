import type { LedgerStatus } from '@hindcast/contracts';
import type { Feedback } from './user';
import type { Persona } from '@hindcast/seed-world';
import { rate, sessionsToRun, sessionsToShare } from './learning-curve';

export type Method = 'combine' | 'binary-rl' | 'opd' | 'none';

export interface DemoOptions {
  readonly sessions: number;
  readonly persona: Persona;
  readonly feedback: Feedback;
  readonly method: Method;
  readonly seed: number;
}

/** First answers to held-out questions under one policy version. */
export interface HeldOut {
  /** Share that meets the persona's rule. */
  readonly rule: number;
  /** Share of well-formed answers. */
  readonly form: number;
  /** Mean over the answers of Σₜ (log π − log π_seed), nats; 0 for the seed model itself. */
  readonly klPerAnswer: number;
}

/** What `npm run demo -- --report FILE` writes. Rates are shares in [0, 1]; `null` is "it did not happen", never zero. */
export interface DemoReport extends DemoOptions {
  readonly turns: LedgerStatus['turns'];
  readonly cases: Omit<LedgerStatus['cases'], 'deciding'>;
  readonly samplesTrained: number;
  readonly steps: number;
  /** Published versions. */
  readonly versions: number;
  /** The last published version; 0 is the seed model. */
  readonly servedVersion: number;
  /** First answers of the first and the last ten sessions. */
  readonly ruleRate: { readonly first10: number | null; readonly last10: number | null };
  readonly heldOut: { readonly before: number; readonly after: number };
  readonly wellFormed: { readonly before: number; readonly after: number };
  readonly klPerAnswer: number;
  readonly sessionsTo: { readonly threeInARow: number | null; readonly eightOfTen: number | null };
  /** PEFT directory of the served version; `null` when the seed model still serves. */
  readonly adapterDir: string | null;
  /** What the ledger's numbers held before the run: `turns`, `cases`, `samplesTrained`, `steps` and `versions` count all runs with the same data. */
  readonly earlier: { readonly captured: number; readonly versions: number };
}

export function demoReport(
  options: DemoOptions,
  ledger: LedgerStatus,
  firstAnswers: readonly boolean[],
  heldOut: { readonly before: HeldOut; readonly after: HeldOut },
  adapterDir: string | null,
  earlier: Pick<LedgerStatus, 'turns' | 'versionsPublished'>,
): DemoReport {
  const { opdRl, opd, rl, drop } = ledger.cases;
  return {
    method: options.method,
    persona: options.persona,
    feedback: options.feedback,
    seed: options.seed,
    sessions: options.sessions,
    turns: ledger.turns,
    cases: { opdRl, opd, rl, drop },
    samplesTrained: ledger.samplesTrained,
    steps: ledger.steps,
    versions: ledger.versionsPublished,
    servedVersion: ledger.policyVersion,
    ruleRate: { first10: rate(firstAnswers.slice(0, 10)), last10: rate(firstAnswers.slice(-10)) },
    heldOut: { before: heldOut.before.rule, after: heldOut.after.rule },
    wellFormed: { before: heldOut.before.form, after: heldOut.after.form },
    klPerAnswer: heldOut.after.klPerAnswer,
    sessionsTo: { threeInARow: sessionsToRun(firstAnswers, 3), eightOfTen: sessionsToShare(firstAnswers, 8, 10) },
    adapterDir,
    earlier: { captured: earlier.turns.captured, versions: earlier.versionsPublished },
  };
}

/** The equations of the ledger that do not hold; empty when the books balance. */
export function imbalances({ turns, cases }: Pick<LedgerStatus, 'turns' | 'cases'>): string[] {
  const { captured, paired, untrainable, expired, superseded, failed, open } = turns;
  const { opdRl, opd, rl, drop, deciding } = cases;
  const ended = paired + untrainable + expired + superseded + failed + open;
  const decided = opdRl + opd + rl + drop + deciding;
  return [
    ...(captured === ended
      ? []
      : [`captured ${captured} ≠ ${ended} = paired + untrainable + expired + superseded + failed + open`]),
    ...(paired === decided ? [] : [`paired ${paired} ≠ ${decided} = opdRl + opd + rl + drop + deciding`]),
  ];
}
