import type { LedgerStatus, TurnStory } from '@hindcast/contracts';

/** An open turn, as the ledger tells of it. */
export const story: TurnStory = {
  turnId: 't',
  responseId: 'r',
  state: 'open',
  case: null,
  reason: null,
  policyVersion: 0,
  evalScore: null,
  reward: null,
  rewardSource: null,
  hint: null,
  trainedIn: null,
};

/** A ledger of one turn. */
export const books: LedgerStatus = {
  turns: { captured: 1, paired: 0, untrainable: 0, expired: 0, superseded: 0, failed: 0, open: 1 },
  cases: { opdRl: 0, opd: 0, rl: 0, drop: 0, deciding: 0 },
  reasons: { 'no-token-ids': 1 },
  waitingSamples: 0,
  samplesTrained: 0,
  steps: 0,
  versionsPublished: 0,
  policyVersion: 0,
};

/** A turn that was trained. */
export const decided: TurnStory = {
  ...story,
  state: 'trained',
  case: 'opdRl',
  evalScore: -1,
  hint: 'Be kind.',
  trainedIn: 3,
};
