import { Log, Metrics } from '@hindcast/platform';
import { readConfig } from './config';
import { LengthGuard } from './length-guard';

function guard(limit: string) {
  const metrics = new Metrics('dispatcher');
  const config = readConfig({ GUARD_LENGTH_CORRELATION: limit });
  const value = async (name: string): Promise<number | null> => {
    const found = (await metrics.registry.getMetricsAsJSON()).find((metric) => metric.name === `hindcast_${name}`);
    return found?.values[0]?.value ?? null;
  };
  return { lengths: new LengthGuard(config, metrics, new Log('dispatcher', 'silent')), value };
}

const praisedWhenLong = (n: number) => ({ responseTokens: n, reward: n % 40 > 20 ? 1 : -1 });

test('there is no correlation before enough samples tell one', async () => {
  expect(await guard('0.5').value('length_reward_correlation')).toBeNull();
});

test('a judge that likes length raises one alarm, and another one after it had stopped', async () => {
  const { lengths, value } = guard('0.5');
  for (let n = 0; n < 40; n++) lengths.observe(praisedWhenLong(n));
  expect(await value('length_reward_correlation')).toBeGreaterThan(0.5);
  expect(await value('length_reward_alarms_total')).toBe(1);
  // As many long answers blamed.
  for (let n = 0; n < 200; n++) lengths.observe({ responseTokens: n % 40, reward: n % 2 ? 1 : -1 });
  expect(Math.abs((await value('length_reward_correlation'))!)).toBeLessThan(0.5);
  for (let n = 0; n < 200; n++) lengths.observe(praisedWhenLong(n % 40));
  expect(await value('length_reward_alarms_total')).toBe(2);
});

test.each([
  { why: 'off', limit: '0', sample: praisedWhenLong },
  { why: 'no rewards', limit: '0.5', sample: (n: number) => ({ responseTokens: n, reward: 0 }) },
  { why: 'too few', limit: '0.5', sample: praisedWhenLong, count: 20 },
])('no alarm: $why', async ({ limit, sample, count = 100 }) => {
  const { lengths, value } = guard(limit);
  for (let n = 0; n < count; n++) lengths.observe(sample(n));
  expect(await value('length_reward_alarms_total')).toBe(0);
});
