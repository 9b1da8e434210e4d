import { TurnsPage, type TurnRow } from '@hindcast/contracts';
import { NOW } from './now';
import { pick, randomOf, uuidOf } from './random';

const REQUESTS = [
  'Please summarise the attached minutes in three sentences, without bullet points.',
  'Why does my test fail with “address already in use” when I run it twice?',
  'Wie spät ist es in Tokio, wenn es in Berlin 9 Uhr ist?',
  'Rewrite this paragraph so that a ten-year-old understands it: the tides follow the moon because its gravity pulls on the water.',
  'ok',
] as const;
const ANSWERS = [
  'The board agreed to move the release to March. Marketing gets two more weeks.',
  'Your first run leaves the server open. Close it in afterEach, or listen on port 0 and read the port that you were given.',
  '16 Uhr, und im Sommer auch: Japan stellt die Uhren nicht um, aber Berlin schon.',
  '- The moon pulls on the sea\n- The sea bulges\n- We call it a tide',
] as const;
const REASONS = ['expired', 'superseded', 'off-policy:temperature', 'truncated'] as const;

const random = randomOf(7);
/** Newest first; every state and case is there. */
export const turnRows: TurnRow[] = Array.from({ length: 137 }, (_, i): TurnRow => rowOf(i));

/** A turn comes in. */
export function addTurn(): void {
  turnRows.unshift({ ...rowOf(0), ...OPEN, turnId: uuidOf(random), createdAt: Date.now(), updatedAt: Date.now() });
}
const OPEN = {
  state: 'open',
  case: null,
  reason: null,
  evalScore: null,
  reward: null,
  hasHint: false,
  trainedIn: null,
} as const;

function rowOf(i: number): TurnRow {
  const state =
    i === 0
      ? 'trained'
      : pick(random, ['open', 'paired', 'judged', 'decided', 'trained', 'trained', 'closed'] as const);
  const isDecided = state === 'decided' || state === 'trained';
  const gate = !isDecided
    ? null
    : state === 'trained'
      ? pick(random, ['opdRl', 'opd', 'rl'] as const)
      : pick(random, ['opdRl', 'rl', 'drop'] as const);
  const reward = gate === null || gate === 'drop' ? null : gate === 'opd' ? 0 : pick(random, [1, -1]);
  const reason =
    state === 'closed'
      ? pick(random, REASONS)
      : gate === 'drop'
        ? pick(random, ['no-signal', 'stale', 'guard:repetition'])
        : null;
  const version = Math.max(0, 44 - Math.floor(i / 4));
  return {
    turnId: uuidOf(random),
    responseId: `chatcmpl-${uuidOf(random).slice(0, 12)}`,
    tenant: pick(random, ['default', 'support', 'a-tenant-with-a-rather-long-name']),
    sessionId: random() < 0.8 ? uuidOf(random).replaceAll('-', '') : null,
    createdAt: NOW - i * 95_000 - 4_000,
    updatedAt: NOW - i * 94_000 - 1_000,
    state,
    case: gate,
    reason,
    policyVersion: version,
    model: version === 0 ? 'qwen' : `hindcast-v${String(version).padStart(6, '0')}`,
    promptTokens: 40 + Math.floor(random() * 900),
    completionTokens: 5 + Math.floor(random() * 300),
    evalScore: state === 'open' || state === 'paired' || state === 'closed' ? null : pick(random, [1, 0, -1] as const),
    reward,
    hasHint: gate === 'opdRl' || gate === 'opd',
    trainedIn: state === 'trained' ? version + 1 : null,
    request: i % 11 === 10 ? null : pick(random, REQUESTS),
    answer: i % 11 === 10 ? null : pick(random, ANSWERS),
  };
}

/** What `GET /admin/v1/turns` answers to these parameters. */
export function turnsFixture(query: URLSearchParams, rows = turnRows): TurnsPage {
  const wanted = (name: string, value: string | number | null): boolean => {
    const filter = query.get(name);
    if (filter === null || filter === '') return true;
    return filter.endsWith('*') ? String(value ?? '').startsWith(filter.slice(0, -1)) : String(value ?? '') === filter;
  };
  const words = (query.get('text') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = rows.filter(
    (row) =>
      wanted('state', row.state) &&
      wanted('case', row.case) &&
      wanted('reason', row.reason) &&
      wanted('session', row.sessionId) &&
      wanted('tenant', row.tenant) &&
      wanted('version', row.policyVersion) &&
      words.every((word) => `${row.request} ${row.answer}`.toLowerCase().includes(word)),
  );
  const start = Number(query.get('before') ?? 0);
  const limit = Number(query.get('limit') ?? 50);
  return TurnsPage.parse({
    turns: fitting.slice(start, start + limit),
    next: start + limit < fitting.length ? String(start + limit) : null,
  });
}
