import { DeadLettersPage, ServiceReport, type DeadLetterRow } from '@hindcast/contracts';
import type { DeadLetterOne, SettingsAnswer } from '../api/types';
import { NOW } from './now';
import { overviewFixture } from './overview-fixture';
import { turnRows } from './turns-fixture';

export const letters: readonly DeadLetterRow[] = Array.from({ length: 64 }, (_, i) => ({
  sequence: 64 - i,
  at: NOW - i * 1_800_000,
  turnId: i % 5 === 4 ? null : turnRows[i]!.turnId,
  tenant: turnRows[i]!.tenant,
  subject: ['rl.v1.turn.paired', 'rl.v1.turn.scored', 'rl.v1.sample.ready'][i % 3]!,
  consumer: ['judge-svc--rl-v1-turn-paired', 'dispatcher--rl-v1-turn-scored', 'trainer--rl-v1-sample-ready'][i % 3]!,
  code: ['contract-violation', 'too-many-deliveries'][i % 2]!,
  error: 'body.evalVotes.0.score: expected -1, 0 or 1, received 7',
  deliveries: 1 + (i % 6),
}));

export function lettersFixture(query: URLSearchParams): DeadLettersPage {
  const start = Number(query.get('before') ?? 0);
  const limit = Number(query.get('limit') ?? 50);
  const fitting = letters.filter((letter) =>
    (['code', 'subject', 'tenant'] as const).every((name) => !query.get(name) || letter[name] === query.get(name)),
  );
  return DeadLettersPage.parse({
    letters: fitting.slice(start, start + limit),
    next: start + limit < fitting.length ? String(start + limit) : null,
  });
}

export function letterFixture(sequence: number): DeadLetterOne | null {
  const letter = letters.find((candidate) => candidate.sequence === sequence);
  if (letter === undefined) return null;
  const message = {
    v: 1,
    turnId: letter.turnId,
    tenant: letter.tenant,
    at: letter.at,
    // Long enough to be folded.
    body: {
      evalVotes: Array.from({ length: 12 }, (_, at) => ({
        score: at === 0 ? 7 : 1,
        abstained: null,
        raw: `\\boxed{${at}}`,
      })),
    },
  };
  return { letter, message: sequence % 7 === 0 ? null : JSON.stringify(message, null, 2) };
}

export function settingsFixture(): SettingsAnswer {
  const setting = (name: string, value: string | null, rest = {}) => ({
    name,
    value,
    isSecret: false,
    isSet: value !== null,
    isGiven: false,
    ...rest,
  });
  const services = overviewFixture().services.map((service, i) =>
    ServiceReport.parse({
      ...service,
      settings: [
        setting('HOST', '127.0.0.1'),
        setting('PORT', String(8_080 + i), { isGiven: true }),
        setting('NATS_URL', 'nats://127.0.0.1:4222', { isGiven: true }),
        setting('NATS_PASSWORD', null, { isSecret: true, isSet: true, isGiven: true }),
        setting('NATS_CA_FILE', null),
        setting('LOG_LEVEL', i === 1 ? 'debug' : 'info', { isGiven: i === 1 }),
      ],
    }),
  );
  return { services };
}
