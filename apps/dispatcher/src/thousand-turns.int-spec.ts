import { randomUUID } from 'node:crypto';
import {
  encodeCapture,
  encodeLogProbs,
  type ContractName,
  type BodyOf,
  type Feedback,
  type Sample,
  type ScoredTurn,
} from '@hindcast/contracts';
import { Buckets, Bus, type RunningService } from '@hindcast/platform';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { decideRecording, recordingOf, type RecordingTexts } from './core/recording';
import { query, startPostgres, type TestPostgres } from './testing/postgres';
import { eventually, published, send, startTestDispatcher } from './testing/service';
import { capture, capturedTurn, pairedTurn, scoredTurn, unhintedTurn } from './testing/turns';

const TURNS = 1_000;
const IN_SESSIONS = 150;
const STEPS = 3;

let nats: NatsServer;
let postgres: TestPostgres;
let databaseUrl: string;
let services: RunningService[];

beforeAll(async () => {
  [nats, postgres] = await Promise.all([startNatsServer(), startPostgres()]);
  databaseUrl = await postgres.createDatabase();
  const env = { NATS_URL: nats.url, DATABASE_URL: databaseUrl };
  services = [await startTestDispatcher(env), await startTestDispatcher(env)];
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.close()));
  await Promise.all([nats.stop(), postgres.stop()]);
});

/** mulberry32: the same turns in every run, so that a failure comes again. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Case {
  readonly turnId: string;
  readonly sessionId: string | null;
  readonly judged: BodyOf<'turnUnhinted'> | BodyOf<'turnScored'>;
  readonly feedback: Feedback | null;
  readonly hasCapture: boolean;
  /** Where a second, different judgement comes, either of them may have been the first. */
  readonly isDisputed: boolean;
}

const teachers: readonly ScoredTurn['teacher'][] = [
  scoredTurn().teacher,
  { ok: true, model: 'seed', logProbs: encodeLogProbs([-1]), topK: null },
  { ok: false, model: 'seed', reason: 'template-mismatch', detail: '' },
];

function caseOf(index: number, next: () => number): Case {
  const responseId = `r-${index}`;
  const isPending = index < IN_SESSIONS;
  const sessionId = isPending ? (1_000 + Math.floor(index / STEPS)).toString(16).padStart(16, '0') : null;
  const evalScore = ([-1, 0, 1] as const)[Math.floor(next() * 3)]!;
  const guards = next() < 0.1 ? ['repetition'] : [];
  const shared = { responseId, sessionId, evalScore, guards, outcomePending: isPending };
  const teacher = teachers[Math.floor(next() * 5)] ?? teachers[0]!;
  const judged = next() < 0.5 ? scoredTurn({ ...shared, teacher }) : unhintedTurn(shared);
  const reward = ([-1, 0, 1] as const)[Math.floor(next() * 3)]!;
  return {
    turnId: randomUUID(),
    sessionId,
    judged,
    feedback: next() < 0.15 ? { reward, comment: null, correction: null, at: 1 } : null,
    hasCapture: next() > 0.03,
    isDisputed: !isPending && next() < 0.05,
  };
}

/** The gate's table, written down a second time. */
function expected({ judged, feedback, hasCapture }: Case, outcomeReward: number | null): [string, string | null] {
  const reward = outcomeReward ?? feedback?.reward ?? judged.evalScore;
  if (judged.guards.length > 0 && reward > 0) return ['drop', 'guard:repetition'];
  const lost = lostTeacher(judged);
  const hasTeacher = judged.hint !== null && (lost === null || (lost === 'teacher:length-mismatch' && !hasCapture));
  const row = hasTeacher ? (reward === 0 ? 'opd' : 'opdRl') : reward === 0 ? 'drop' : 'rl';
  if (row === 'drop') return ['drop', lost ?? 'no-signal'];
  return hasCapture ? [row, hasTeacher ? null : lost] : ['drop', 'capture-missing'];
}

function lostTeacher(judged: Case['judged']): string | null {
  if (!('teacher' in judged)) return null;
  if (!judged.teacher.ok) return `teacher:${judged.teacher.reason}`;
  return judged.teacher.logProbs.length === 3 ? null : 'teacher:length-mismatch';
}

type Message = { readonly [N in ContractName]: readonly [N, string | null, BodyOf<N>] }[ContractName];

const judgementOf = ({ turnId, judged }: Case): Message =>
  'teacher' in judged ? ['turnScored', turnId, judged] : ['turnUnhinted', turnId, judged];

function messagesOf(one: Case, next: () => number): Message[] {
  const { turnId, sessionId, judged, isDisputed } = one;
  const ids = { responseId: judged.responseId, sessionId, outcomePending: judged.outcomePending };
  const once: Message[] = [['turnPaired', turnId, pairedTurn(ids)], judgementOf(one)];
  if (!judged.outcomePending) once.push(['turnCaptured', turnId, capturedTurn(ids)]);
  if (isDisputed) once.push(['turnUnhinted', turnId, unhintedTurn({ ...ids, evalScore: 0 })]);
  return once.flatMap((message) => (next() < 0.4 ? [message, message] : [message]));
}

async function prepare(cases: readonly Case[]): Promise<void> {
  const [captures, words] = await Promise.all(
    (['captures', 'feedback'] as const).map((name) => services[0]!.app.get(Buckets).open(name)),
  );
  await inChunks(cases, async ({ turnId, judged, feedback, hasCapture, sessionId }) => {
    if (hasCapture) await captures!.put(turnId, encodeCapture(capture(turnId, judged.responseId)));
    if (feedback) await words!.put(turnId, JSON.stringify(feedback));
    const ids = { responseId: judged.responseId, sessionId, outcomePending: true };
    // A session's turns are known before it ends; all else comes in any order.
    if (judged.outcomePending) await send(services[0]!, 'turnCaptured', turnId, capturedTurn(ids));
  });
  await eventually(async () => (await status()).turns.captured === IN_SESSIONS);
}

async function inChunks<T>(all: readonly T[], task: (one: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += 200) await Promise.all(all.slice(from, from + 200).map(task));
}

const status = () => services[0]!.app.get(Bus).request('status', { tenant: null });

interface Row extends RecordingTexts {
  readonly case: string;
  readonly reason: string | null;
  readonly reward: number | null;
}

test('a thousand turns, with messages twice and in any order and two dispatchers: each has its one decision, and its recording gives it again', async () => {
  const next = random(4);
  const cases = Array.from({ length: TURNS }, (_, index) => caseOf(index, next));
  await prepare(cases);
  const sessions = [...new Set(cases.flatMap(({ sessionId }) => sessionId ?? []))];
  const outcomes = new Map(sessions.map((sessionId) => [sessionId, Math.floor(next() * 5) / 2 - 1]));
  const messages: Message[] = [
    ...cases.flatMap((one) => messagesOf(one, next)),
    ...[...outcomes].map(([sessionId, reward]): Message => [
      'sessionOutcome',
      null,
      { sessionId, reward, comment: null },
    ]),
  ];
  const shuffled = messages.map((message) => ({ message, rank: next() })).sort((a, b) => a.rank - b.rank);
  await inChunks(shuffled, ({ message: [name, turnId, body] }) => send(services[0]!, name, turnId, body as never));

  await eventually(async () => {
    const { turns, cases: rows } = await status();
    return turns.captured === TURNS && turns.open === 0 && rows.deciding === 0;
  });

  const rows = await query<Row>(
    databaseUrl,
    `SELECT "turnId", "case", reason, reward, judged, feedback, circumstances, capture
     FROM decisions JOIN recordings USING ("turnId") ORDER BY seq`,
  );
  expect(rows).toHaveLength(TURNS);
  const byId = new Map(rows.map((row) => [row.turnId, row]));
  expect(byId.size).toBe(TURNS);

  for (const one of cases) {
    const { case: gateCase, reason } = byId.get(one.turnId)!;
    const outcome = one.sessionId === null ? null : rewardOf(one.sessionId, cases, outcomes);
    const allowed = [expected(one, outcome)];
    if (one.isDisputed)
      allowed.push(expected({ ...one, judged: { ...unhintedTurn(), evalScore: 0, guards: [] } }, null));
    expect(allowed).toContainEqual([gateCase, reason]);
  }

  const books = await status();
  const none = { opdRl: 0, opd: 0, rl: 0, drop: 0, deciding: 0 };
  expect(books.cases).toEqual({ ...none, ...counts(rows.map((row) => row.case)) });
  expect(books.reasons).toEqual(counts(rows.flatMap((row) => (row.case === 'drop' ? row.reason! : []))));
  expect(books.turns.paired).toBe(TURNS);
  expect(await query(databaseUrl, 'SELECT "turnId" FROM held_turns')).toEqual([]);

  const kept = rows.filter((row) => row.case !== 'drop');
  await eventually(
    async () => new Set((await published(nats.url, 'sampleReady')).map(({ turnId }) => turnId)).size === kept.length,
  );
  const samples = new Map<string, Sample[]>();
  for (const { turnId, body } of await published(nats.url, 'sampleReady'))
    samples.set(turnId!, [...(samples.get(turnId!) ?? []), body]);
  for (const row of rows) {
    const again = decideRecording(recordingOf(row));
    expect([again.case, again.reason, again.reward]).toEqual([row.case, row.reason, row.reward]);
    const sent = samples.get(row.turnId) ?? [];
    expect(sent.length).toBe(again.sample ? 1 : 0);
    expect(sent.map((sample) => JSON.stringify(sample))).toEqual(again.sample ? [JSON.stringify(again.sample)] : []);
  }
}, 120_000);

function counts(names: readonly string[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const name of names) found[name] = (found[name] ?? 0) + 1;
  return found;
}

/** o + the mean of the steps' scores. */
function rewardOf(sessionId: string, cases: readonly Case[], outcomes: ReadonlyMap<string, number>): number {
  const steps = cases.filter((one) => one.sessionId === sessionId);
  const scores = steps.map(({ feedback, judged }): number => feedback?.reward ?? judged.evalScore);
  return outcomes.get(sessionId)! + scores.reduce((sum, score) => sum + score, 0) / scores.length;
}
