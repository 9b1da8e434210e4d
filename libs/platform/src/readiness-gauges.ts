import type { Health } from './health';
import type { Metrics } from './metrics';

/** What `/readyz` says, as numbers: for alerts where nothing else asks it. */
export function exportReadiness(metrics: Metrics, health: Health): void {
  const ready = metrics.gauge('service_ready', '1 when /readyz answers 200');
  const degraded = metrics.gauge(
    'service_degraded_checks',
    'Dependencies that are away while the service goes on; /readyz names them',
  );
  metrics.onScrape('readiness', async () => {
    const readiness = await health.readiness();
    ready.set(readiness.ready ? 1 : 0);
    degraded.set(readiness.degraded.length);
  });
}
