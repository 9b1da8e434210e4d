import { hostname } from 'node:os';
import type { ServiceReport } from '@hindcast/contracts';
import { release } from './build-info';
import { secretsOf, settingsOf } from './config';
import { shownText } from './core/shown-value';
import type { Health } from './health';

/** Who asks all services at once waits little longer. */
const CHECK_TIMEOUT_MS = 1_000;

/** What a process says of itself when it is asked: nothing in it is secret. */
export function serviceReporter(app: string, config: object, health: Health): () => Promise<ServiceReport> {
  const secrets = secretsOf(config);
  const fixed = {
    app,
    instance: `${hostname()}:${process.pid}`,
    release: release(),
    node: process.version,
    startedAt: Date.now(),
    settings: settingsOf(config),
  };
  return async () => {
    const results = await health.results(CHECK_TIMEOUT_MS);
    return {
      ...fixed,
      ready: results.every(({ required, reason }) => !required || reason === null),
      checks: results.map(({ name, reason }) => ({
        name: shownText(name, secrets),
        ok: reason === null,
        detail: reason === null ? null : shownText(reason, secrets),
      })),
    };
  };
}
