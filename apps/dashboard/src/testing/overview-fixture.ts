import { LedgerOverview, type Overview, type ServiceSummary } from '@hindcast/contracts';
import { NOW } from './now';

const service = (app: string, checks: ServiceSummary['checks'], i = 0): ServiceSummary => ({
  app,
  instance: `${app}-${i}`,
  release: '0.1.0',
  node: 'v20.20.2',
  startedAt: NOW - 5_400_000,
  ready: checks.every(({ ok }) => ok),
  checks: [...checks],
});
const ok = (name: string) => ({ name, ok: true, detail: null });

/** A loop that runs, with one judge that does not answer. `turns` counts on with the live updates. */
export function overviewFixture(turns = 1_284): Overview {
  return {
    ledger: LedgerOverview.parse({
      status: {
        turns: {
          captured: turns,
          paired: 1_012,
          untrainable: 87,
          expired: 102,
          superseded: 24,
          failed: 11,
          open: turns - 1_236,
        },
        cases: { opdRl: 388, opd: 61, rl: 301, drop: 249, deciding: 13 },
        reasons: {
          'no-signal': 171,
          expired: 102,
          'off-policy:temperature': 61,
          stale: 41,
          superseded: 24,
          'guard:repetition': 19,
          truncated: 14,
          failed: 11,
          'refused:stale': 6,
          'teacher:too-long': 4,
          'dead-letter:contract-violation': 2,
        },
        waitingSamples: 11,
        samplesTrained: 733,
        steps: 46,
        versionsPublished: 43,
        policyVersion: 44,
      },
      flow: {
        captured: turns,
        paired: 1_012,
        hinted: 449,
        unhinted: 550,
        scored: 445,
        ready: 750,
        trained: 733,
        refused: 6,
        published: 43,
      },
      pending: {
        'judge-svc--rl-v1-turn-paired': 13,
        'teacher-svc--rl-v1-turn-judged-hinted': 4,
        'dispatcher--rl-v1-turn-captured': 0,
        'dispatcher--rl-v1-turn-paired': 0,
        'dispatcher--rl-v1-turn-judged-unhinted': 1,
        'dispatcher--rl-v1-turn-scored': 0,
        'trainer--rl-v1-sample-ready': 11,
        'dispatcher--rl-v1-policy-updated': 0,
      },
      deadLetters: 2,
      policySince: NOW - 720_000,
      turnsRevision: String(turns),
    }),
    batch: { size: 16, min: 4 },
    method: 'combine',
    policy: {
      version: 44,
      adapter: 'hindcast-v000044',
      since: NOW - 720_000,
      canary: {
        version: 45,
        adapter: 'hindcast-v000045',
        engines: ['http://gpu-1:8000/v1'],
        share: 0.1,
        at: NOW - 180_000,
      } as NonNullable<Overview['policy']['canary']>,
    },
    engines: [
      { url: 'http://gpu-1:8000/v1', ok: true, detail: null, models: ['qwen', 'hindcast-v000044', 'hindcast-v000045'] },
      {
        url: 'http://gpu-2:8000/v1',
        ok: false,
        detail: 'connection refused since 4 min; the circuit breaker is open',
        models: [],
      },
    ],
    services: [
      service('gateway', [ok('broker'), ok('engines')]),
      service('gateway', [ok('broker'), ok('engines')], 1),
      service('judge-svc', [
        ok('broker'),
        { name: 'judge', ok: false, detail: '503 from https://judge.example/v1: overloaded' },
      ]),
      service('teacher-svc', [ok('broker'), ok('teacher')]),
      service('dispatcher', [ok('broker'), ok('database')]),
      service('trainer', [ok('broker'), ok('backend')]),
    ],
    broker: { ok: true, durability: 'power-loss' },
  };
}

export function emptyOverviewFixture(): Overview {
  const none = { captured: 0, paired: 0, untrainable: 0, expired: 0, superseded: 0, failed: 0, open: 0 };
  return {
    ...overviewFixture(),
    ledger: LedgerOverview.parse({
      status: {
        turns: none,
        cases: { opdRl: 0, opd: 0, rl: 0, drop: 0, deciding: 0 },
        reasons: {},
        waitingSamples: 0,
        samplesTrained: 0,
        steps: 0,
        versionsPublished: 0,
        policyVersion: 0,
      },
      flow: {
        captured: 0,
        paired: 0,
        hinted: 0,
        unhinted: 0,
        scored: 0,
        ready: 0,
        trained: 0,
        refused: 0,
        published: 0,
      },
      pending: {},
      deadLetters: 0,
      policySince: null,
      turnsRevision: '0',
    }),
    policy: { version: 0, adapter: null, since: 0, canary: null },
  };
}
