import { Log, Metrics } from '@hindcast/platform';
import { PublicationMetrics } from './publication-metrics';

it('shows every alarm from the start on, and no number that nobody measured', async () => {
  const metrics = new Metrics('trainer');
  const publication = new PublicationMetrics(metrics, new Log('trainer', 'silent'));
  const before = await metrics.scrape();
  expect(before).toContain('hindcast_trainer_alarms_total{alarm="drift",app="trainer"} 0');
  expect(before).not.toMatch(/^hindcast_trainer_(drift_nats|policy_version)[ {]/m);
  publication.drift(1.5);
  publication.serving(0);
  const after = await metrics.scrape();
  expect(after).toContain('hindcast_trainer_drift_nats{app="trainer"} 1.5');
  expect(after).toContain('hindcast_trainer_policy_version{app="trainer"} 0');
});

it.each([
  ['http://gpu-1:8000/v1', 'gpu-1:8000'],
  ['https://user:secret@gpu-1/engines/a/v1', 'gpu-1/engines/a'],
])('names the engine %s as %s, like the gateways do', async (baseUrl, engine) => {
  const metrics = new Metrics('trainer');
  new PublicationMetrics(metrics, new Log('trainer', 'silent')).engineUp(baseUrl, true);
  expect(await metrics.scrape()).toContain(`hindcast_trainer_engine_up{engine="${engine}",app="trainer"} 1`);
});
