import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Gauge, type Registry } from 'prom-client';

/** The version of Hindcast that this process runs. */
export function release(): string {
  const { version } = JSON.parse(readFileSync(join(__dirname, '../package.json'), 'utf8')) as { version: string };
  return version;
}

/** Which build this is, in the way of Prometheus: always 1, what it says stands in its labels. */
export function exportBuildInfo(registry: Registry): void {
  new Gauge({
    name: 'hindcast_build_info',
    help: '1, with the version of Hindcast as a label',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: release() }, 1);
}
