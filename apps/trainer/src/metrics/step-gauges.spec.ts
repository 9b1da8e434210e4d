import { Metrics } from '@hindcast/platform';
import { STEP_METRICS, type StepMetric } from '../core/step-metrics-table';
import { reportedStep } from '../testing/reported-step';
import { StepGauges } from './step-gauges';

const metrics = new Metrics('trainer');
const gauges = new StepGauges(metrics);

/** The lines of a metric, without the label that all have. */
async function exposed(name: string): Promise<string[]> {
  const lines = (await metrics.scrape()).split('\n').filter((line) => line.startsWith(`hindcast_${name}`));
  return lines.map((line) => line.replace(/,?app="trainer"/, '').replace('{}', ''));
}

it('exposes nothing before the first step, rather than zeros', async () => {
  expect(await exposed('trainer_step_')).toEqual([
    ...[0.1, 0.3, 1, 3, 10, 30, 100, 300, 1_000, 3_000].map(
      (le) => `hindcast_trainer_step_duration_seconds_bucket{le="${le}"} 0`,
    ),
    'hindcast_trainer_step_duration_seconds_bucket{le="+Inf"} 0',
    'hindcast_trainer_step_duration_seconds_sum 0',
    'hindcast_trainer_step_duration_seconds_count 0',
  ]);
  expect(await exposed('trainer_samples_trained_total')).toHaveLength(3);
  expect(await exposed('trainer_last_step')).toEqual([]);
});

it('shows the newest step after a restart, and counts only what this process did', async () => {
  await gauges.catchUp([reportedStep(1), reportedStep(2)]);
  expect(await exposed('trainer_step_grad_norm')).toEqual(['hindcast_trainer_step_grad_norm 2']);
  expect(await exposed('trainer_steps_total')).toEqual(['hindcast_trainer_steps_total 0']);
  expect(await exposed('trainer_last_step')).toEqual(['hindcast_trainer_last_step_timestamp_seconds 1700000002.25']);
});

it('a number that the newest step does not have is not exposed any more', async () => {
  const metricsOf = { 'samples/opdRl': 0, 'samples/opd': 1, 'samples/rl': 2, tokens: 40, step_seconds: 2, kl: 0.5 };
  await gauges.report(reportedStep(3, { metrics: metricsOf }));
  expect(await exposed('trainer_step_grad_norm')).toEqual([]);
  expect(await exposed('trainer_step_kl_nats')).toEqual(['hindcast_trainer_step_kl_nats 0.5']);
  expect(await exposed('trainer_step_case_samples')).toEqual([
    'hindcast_trainer_step_case_samples{case="opdRl"} 0',
    'hindcast_trainer_step_case_samples{case="opd"} 1',
    'hindcast_trainer_step_case_samples{case="rl"} 2',
  ]);
  expect(await exposed('trainer_steps_total')).toEqual(['hindcast_trainer_steps_total 1']);
  expect(await exposed('trainer_samples_trained_total')).toContain(
    'hindcast_trainer_samples_trained_total{case="rl"} 2',
  );
  expect(await exposed('trainer_tokens_trained_total')).toEqual(['hindcast_trainer_tokens_trained_total 40']);
  expect(await exposed('trainer_step_duration_seconds_sum')).toEqual(['hindcast_trainer_step_duration_seconds_sum 2']);
});

it('every number of the table can be shown', async () => {
  const values = Object.fromEntries(Object.keys(STEP_METRICS).map((name, i) => [name.replace('_N/', '_3/'), i + 0.5]));
  await gauges.report(reportedStep(4, { metrics: values }));
  for (const [i, { gauge, labels = {} }] of Object.values<StepMetric>(STEP_METRICS).entries()) {
    const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace('N', '3')}"`);
    expect(await exposed(gauge)).toContain(
      `hindcast_${gauge}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${i + 0.5}`,
    );
  }
});
