import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StepRow } from '@hindcast/contracts';
import { sampleBars, stacked, STEP_CHARTS, stepCharts } from './step-charts';

const step = (version: number, metrics: Record<string, number>): StepRow => ({
  version,
  parent: version - 1,
  at: 0,
  state: 'published',
  reason: null,
  turns: 4,
  metrics,
});

describe('the charts of the training page', () => {
  it('name metrics that docs/metrics.md lists', () => {
    const documented = readFileSync(join(__dirname, '../../../../docs/metrics.md'), 'utf8');
    const unknown = STEP_CHARTS.flatMap(({ lines }) => lines)
      .map(({ metric }) => metric)
      .filter((metric) => !documented.includes(`| \`${metric}\``));
    expect(unknown).toEqual([]);
  });

  it('have ids of their own', () => {
    expect(new Set(STEP_CHARTS.map(({ id }) => id)).size).toBe(STEP_CHARTS.length);
  });

  it('leave out what no step has', () => {
    const charts = stepCharts([step(1, { 'loss/total': 1 }), step(2, { 'loss/total': 2, 'loss/kl': 0 })]);
    expect(charts.map(({ plan, lines }) => [plan.id, lines])).toEqual([
      [
        'loss',
        [
          { label: 'total', values: [1, 2] },
          { label: 'KL term', values: [null, 0] },
        ],
      ],
    ]);
  });

  it('are none without a step', () => {
    expect(stepCharts([])).toEqual([]);
  });
});

describe('samples per case', () => {
  it('have a gap where a step does not say', () => {
    expect(sampleBars([step(1, { 'samples/rl': 3, 'samples/opd': 1 }), step(2, { 'samples/rl': 4 })])).toEqual([
      { label: 'teacher', values: [1, null] },
      { label: 'reward', values: [3, 4] },
    ]);
  });

  it('are stacked, and a missing part lifts nothing', () => {
    expect(
      stacked([
        [1, 2],
        [null, 3],
        [4, 0],
      ]),
    ).toEqual([
      [1, 2],
      [null, 5],
      [5, 5],
    ]);
    expect(stacked([])).toEqual([]);
  });
});
