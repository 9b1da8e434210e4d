import type { Scenario } from './fixture-server';
import { judgeFixture } from './judge-fixture';
import { letterFixture, lettersFixture, settingsFixture } from './letters-fixture';
import { emptyOverviewFixture, overviewFixture } from './overview-fixture';
import { policiesFixture, rollbackFixture } from './policies-fixture';
import { stepsFixture } from './training-fixture';
import { turnFixture } from './turn-fixture';
import { turnRows, turnsFixture } from './turns-fixture';

export interface FixtureAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Steps of the trainer; more than a page. */
const STEPS = 340;
const ok = (body: unknown): FixtureAnswer => ({ status: 200, body });

/** The answer to a request; `null` where there is no such route or thing. */
export function answerOf(method: string, url: URL, body: unknown, scenario: Scenario): FixtureAnswer | null {
  const path = url.pathname.replace(/^\/admin\/v1/, '');
  return method === 'POST' ? written(path, body) : read(path, url.searchParams, scenario);
}

function read(path: string, query: URLSearchParams, scenario: Scenario): FixtureAnswer | null {
  const isEmpty = scenario === 'empty';
  const [, list, ...rest] = path.split('/');
  switch (list) {
    case 'session':
      return ok({ open: scenario !== 'locked', name: scenario === 'locked' ? 'ops' : 'default', release: '0.1.0' });
    case 'overview':
      return ok(isEmpty ? emptyOverviewFixture() : overviewFixture());
    case 'turns':
      return rest[0] === undefined ? ok(turnsFixture(query, isEmpty ? [] : turnRows)) : turn(rest[0]);
    case 'steps':
      return ok(stepsFixture(isEmpty ? 0 : STEPS, query));
    case 'policies':
      return ok(policiesFixture(isEmpty ? 0 : 45, query));
    case 'judge':
      return ok(judgeFixture(isEmpty ? 0 : Number(query.get('days') ?? 14)));
    case 'dead-letters':
      return rest[0] === undefined
        ? ok(isEmpty ? { letters: [], next: null } : lettersFixture(query))
        : letter(rest[0]);
    case 'settings':
      return ok(settingsFixture());
    default:
      return null;
  }
}

/** The name `long` stands for a turn of 8,000 tokens. */
function turn(id: string): FixtureAnswer | null {
  if (id === 'long')
    return ok(
      turnFixture(
        turnRows.find(({ state }) => state === 'trained')!,
        8_000,
      ),
    );
  const row = turnRows.find(({ turnId, responseId }) => turnId === id || responseId === id);
  return row === undefined ? null : ok(turnFixture(row));
}

function letter(sequence: string): FixtureAnswer | null {
  const found = letterFixture(Number(sequence));
  return found === null ? null : ok(found);
}

function written(path: string, body: unknown): FixtureAnswer | null {
  if (path.endsWith('/feedback'))
    return ok({ turn_id: path.split('/')[2], status: (body as { reward: number }).reward === 0 ? 'late' : 'accepted' });
  if (path === '/policies/rollback') return { status: 202, body: rollbackFixture(body as { version: number }) };
  // Every third letter still breaks its contract.
  if (path.endsWith('/replay') && Number(path.split('/')[2]) % 3 === 0 && (body as { force?: boolean }).force !== true)
    return ok({ outcome: 'refused', message: 'It still breaks its contract: body.evalVotes.0.score is 7.' });
  if (path.endsWith('/replay'))
    return ok({ outcome: 'replayed', message: 'It is on its way to judge-svc--rl-v1-turn-paired again.' });
  if (path.endsWith('/discard')) return ok({ outcome: 'discarded', message: 'It is gone for good.' });
  return null;
}
