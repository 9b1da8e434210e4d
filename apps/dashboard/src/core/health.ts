import type { Overview, ServiceSummary } from '@hindcast/contracts';

export interface HealthRow {
  readonly key: string;
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string | null;
}

/** The services that a loop has; one that is not on the bus is missed. */
const EXPECTED = ['gateway', 'judge-svc', 'teacher-svc', 'dispatcher', 'trainer'] as const;

/** What the broker's files outlive. */
const DURABILITIES: Readonly<Record<string, string>> = {
  'process-death': 'what is stored outlives the broker’s process, not a power cut',
  'power-loss': 'what is stored outlives a power cut',
};

/** A process is well when it is ready and nothing that it checks is wrong: one verdict, wherever it is shown. */
export const isWell = ({ ready, checks }: Pick<ServiceSummary, 'ready' | 'checks'>): boolean =>
  ready && checks.every(({ ok }) => ok);

/** Those of `urls` that do not fail their health check; one that nothing is known of yet counts. */
export const healthyEngines = (urls: readonly string[], engines: Overview['engines']): readonly string[] =>
  urls.filter((url) => engines.every((engine) => engine.url !== url || engine.ok));

/** What can be well or not, what is wrong first. */
export function healthRows({ engines, services, broker, ledger }: Overview): HealthRow[] {
  const rows: HealthRow[] = [
    {
      key: 'broker',
      name: 'Broker',
      ok: broker.ok,
      detail: broker.ok ? durabilityText(broker.durability) : 'does not answer',
    },
    {
      key: 'ledger',
      name: 'Ledger and its database',
      ok: ledger !== null,
      detail: ledger === null ? 'does not answer' : null,
    },
    ...engines.map(({ url, ok, detail, models }) => ({
      key: `engine ${url}`,
      name: `Engine ${url}`,
      ok,
      detail: detail ?? (models.length === 0 ? null : models.join(', ')),
    })),
    ...EXPECTED.filter((app) => !services.some((service) => service.app === app)).map((app) => ({
      key: app,
      name: app,
      ok: false,
      detail: 'not on the bus',
    })),
    ...services.map(({ app, instance, ready, checks, release }) => {
      const wrong = checks.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail ?? 'not ok'}`);
      return {
        key: `${app} ${instance}`,
        name: services.filter((other) => other.app === app).length > 1 ? `${app} ${instance}` : app,
        ok: isWell({ ready, checks }),
        detail: wrong.length > 0 ? wrong.join('; ') : ready ? release : 'not ready',
      };
    }),
  ];
  return [...rows.filter(({ ok }) => !ok), ...rows.filter(({ ok }) => ok)];
}

const durabilityText = (durability: string | null): string | null =>
  durability === null ? null : (DURABILITIES[durability] ?? durability);
