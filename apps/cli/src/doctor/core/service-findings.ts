import type { Overview, ServiceSummary } from '@hindcast/contracts';
import { fault, ok, warning, type Finding } from './finding';

/** Without one of them turns are not trained. */
const NEEDED = ['gateway', 'judge-svc', 'teacher-svc', 'dispatcher', 'trainer'];

/** Those that turns are not trained without, and that did not answer. */
export const missingServices = ({ services, method }: Overview): string[] =>
  NEEDED.filter(
    (app) => (app !== 'teacher-svc' || method !== 'binary-rl') && !services.some((service) => service.app === app),
  );

/** What each service says of itself, and which do not answer. */
export function serviceFindings(url: string, overview: Overview): Finding[] {
  const { services } = overview;
  const releases = new Set(services.map(({ release }) => release));
  return [
    ok('gateway', `answers at ${url}`),
    ...services.map(serviceFinding),
    ...missingServices(overview).map((app) =>
      fault(
        `service ${app}`,
        'does not answer on the bus',
        `Start it: npm run service -- ${app}, with the NATS_URL of the others; its log says what it waits for.`,
      ),
    ),
    ...(releases.size > 1
      ? [
          warning(
            'services',
            `of several versions: ${[...releases].sort().join(', ')}`,
            'Finish the update: restart those of the older one (docs/shutdown.md).',
          ),
        ]
      : []),
  ];
}

function serviceFinding({ app, instance, release, ready, checks }: ServiceSummary): Finding {
  const check = `service ${app}`;
  const wrong = checks.filter(({ ok: isOk }) => !isOk).map(({ name, detail }) => `${name}: ${detail ?? 'not ready'}`);
  const who = `${instance}, ${release}`;
  if (!ready)
    return fault(
      check,
      `${who}: waits for ${wrong.join('; ') || 'something it does not name'}`,
      'Mend what it names; it goes on by itself then.',
    );
  if (wrong.length > 0)
    return warning(check, `${who}: without ${wrong.join('; ')}`, 'Mend what it names; the service works on meanwhile.');
  return ok(check, `${who}: ready`);
}
