import { CurrentPolicy, JudgeStatistics, StepsPage, VersionsPage } from '@hindcast/contracts';
import type { PoliciesAnswer } from '../api/types';
import { NOW } from './now';
import { randomOf } from './random';

const HOUR = 3_600_000;
const stateOf = (version: number) => (version % 17 === 0 ? 'refused' : version === 30 ? 'rolled-back' : 'published');

export function stepsFixture(steps = 46): StepsPage {
  const random = randomOf(3);
  return StepsPage.parse({
    steps: Array.from({ length: steps }, (_, i) => {
      const version = i + 1;
      const noise = (size: number) => (random() - 0.5) * size;
      return {
        version,
        parent: i,
        at: NOW - (steps - i) * 840_000,
        state: stateOf(version),
        reason: stateOf(version) === 'refused' ? 'drift of 6.4 nats is above DRIFT_REFUSE_NATS=6' : null,
        turns: 16,
        metrics: {
          'loss/policy': -0.1 - i * 0.004 + noise(0.06),
          'loss/total': -0.08 - i * 0.004 + noise(0.06),
          kl: 0.01 + i * 0.002 + noise(0.004),
          entropy: 1.9 - i * 0.01 + noise(0.1),
          clip_fraction: Math.max(0, 0.08 + noise(0.08)),
          grad_norm: 0.9 + noise(0.5),
          reward_mean: -0.3 + i * 0.02 + noise(0.3),
          tokens_per_second: 1_900 + noise(240),
        },
      };
    }).reverse(),
    next: null,
  });
}

export function policiesFixture(versions = 46): PoliciesAnswer {
  const page = VersionsPage.parse({
    versions: Array.from({ length: versions }, (_, i) => versions - i).map((version) => ({
      version,
      state: version === 0 ? 'base' : stateOf(version),
      reason: stateOf(version) === 'refused' ? 'drift of 6.4 nats is above DRIFT_REFUSE_NATS=6' : null,
      parent: version - 1,
      adapter: `hindcast-v${String(version).padStart(6, '0')}`,
      at: NOW - (versions - version) * 840_000,
      driftNats: version * 0.08,
      trainedTurns: 16,
      served: { turns: 28, judged: 21, meanEvalScore: -0.3 + version * 0.02, hintRate: 0.5 - version * 0.006 },
    })),
    next: null,
  });
  page.versions.push({
    version: 0,
    state: 'base',
    reason: null,
    parent: null,
    adapter: null,
    at: null,
    driftNats: null,
    trainedTurns: 0,
    served: { turns: 31, judged: 25, meanEvalScore: -0.4, hintRate: 0.6 },
  });
  const current = CurrentPolicy.parse({
    version: 44,
    adapter: 'hindcast-v000044',
    engines: ['http://gpu-1:8000/v1'],
    at: NOW - 720_000,
  });
  return { ...VersionsPage.parse(page), current, rollback: null };
}

export function judgeFixture(days: number): JudgeStatistics {
  const random = randomOf(5);
  return JudgeStatistics.parse({
    days: Array.from({ length: days }, (_, i) => ({
      day: new Date(NOW - (days - 1 - i) * 24 * HOUR).toISOString().slice(0, 10),
      turns: 60 + Math.floor(random() * 40),
      votes: 400 + Math.floor(random() * 200),
      abstained: Math.floor(random() * 30),
      meanScore: -0.2 + i * 0.03,
      latencyP50Ms: 500 + random() * 100,
      latencyP95Ms: 1_400 + random() * 400,
      tokens: 400_000,
      cost: 0.3 + random() * 0.1,
    })),
    votes: [
      { kind: 'eval', score: 1, count: 1_422 },
      { kind: 'eval', score: 0, count: 318 },
      { kind: 'eval', score: -1, count: 1_103 },
      { kind: 'hint', score: 1, count: 1_310 },
      { kind: 'hint', score: -1, count: 1_620 },
    ],
    abstentions: [
      { kind: 'eval', reason: 'unreadable', count: 41 },
      { kind: 'eval', reason: 'timeout', count: 12 },
      { kind: 'hint', reason: 'timeout', count: 9 },
    ],
    agreement: { turns: 960, unanimous: 771 },
    human: [
      { judge: 1, person: 1, count: 34 },
      { judge: 1, person: -1, count: 5 },
      { judge: -1, person: -1, count: 27 },
      { judge: -1, person: 1, count: 3 },
      { judge: 0, person: 1, count: 6 },
    ],
  });
}
