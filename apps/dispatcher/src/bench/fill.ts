// A ledger as a year of use leaves it, made in SQL. The same number of turns gives the same rows, but for the times, which end now.
import type { Client } from 'pg';

/** Turns of one chunk. */
const CHUNK = 20_000;
const DAYS = 30;
const VERSIONS = 200;

/** A draw in [0, 1) that only the turn and a name decide. */
const draw = (name: string): string => `((hashtextextended('${name}' || i, 7) & 1048575) / 1048576.0::float8)`;

const id = (text: string): string => {
  const hash = `md5(${text})`;
  return `(substr(${hash}, 1, 8) || '-' || substr(${hash}, 9, 4) || '-4' || substr(${hash}, 14, 3) || '-8' || substr(${hash}, 18, 3) || '-' || substr(${hash}, 21, 12))`;
};

const pick = (of: string, ...values: string[]): string =>
  `(ARRAY[${values.map((value) => `'${value}'`).join(', ')}])[1 + floor(${of} * ${values.length})::int]`;

/** What becomes of each turn of a chunk; $1 and $2 are its first and last turn, $3 is how many there are in all. */
const FATES = `
  CREATE TEMP TABLE fate ON COMMIT DROP AS
  SELECT *, CASE WHEN decided THEN CASE
      WHEN chance < 0.50 THEN 'trained' WHEN chance < 0.80 THEN 'ready' WHEN chance < 0.83 THEN 'refused' ELSE 'dropped' END
    END AS sample
  FROM (
    SELECT *, ending = 'paired' AND ${draw('decided')} < 0.985 AS decided, ${draw('sample')} AS chance,
      (ARRAY['opdRl', 'opd', 'rl'])[1 + floor(${draw('case')} * 3)::int] AS kept,
      ${pick(draw('why'), 'no-signal', 'no-signal', 'no-signal', 'stale', 'teacher:template-mismatch', 'teacher:too-long', 'capture-missing', 'dead-letter:handler-failed')} AS why
    FROM (
      SELECT i, ${id(`'turn' || i`)} AS id,
        CASE WHEN ${draw('tenant')} < 0.6 THEN 'acme' WHEN ${draw('tenant')} < 0.85 THEN 'globex'
          WHEN ${draw('tenant')} < 0.95 THEN 'initech' WHEN ${draw('tenant')} < 0.999 THEN 'umbrella' ELSE 'tiny' END AS tenant,
        CASE WHEN ${draw('sessionless')} < 0.8 THEN substr(md5('session' || i / 6), 1, 32) END AS session,
        floor(i * ${VERSIONS}.0 / $3)::int AS version, now() - ($3 - i) * interval '${DAYS} days' / $3 AS at,
        CASE WHEN $3 - i < 500 OR ${draw('ending')} < 0.003 THEN 'open' WHEN ${draw('ending')} < 0.04 THEN 'untrainable'
          WHEN ${draw('ending')} < 0.13 THEN 'expired' WHEN ${draw('ending')} < 0.15 THEN 'superseded'
          WHEN ${draw('ending')} < 0.16 THEN 'failed' ELSE 'paired' END AS ending
      FROM generate_series($1::bigint, $2::bigint) i
    ) answered
  ) ended`;

const TURNS = `
  INSERT INTO turns (id, tenant, revision, "responseId", "sessionId", "policyVersion", model, "promptTokens", "completionTokens",
    "finishReason", captured, judged, untrainable, paired, closed, decided, "decidedReason", refused, "trainedIn", ending, "case",
    reason, "createdAt", "updatedAt")
  SELECT id, tenant, 4, 'chatcmpl-' || md5('response' || i), session, version, 'bench-v' || version, 200 + i % 1800, 20 + i % 480,
    'stop', true, decided OR (ending = 'paired' AND ${draw('judged')} < 0.2), CASE ending WHEN 'untrainable' THEN
      ${pick(draw('untrainable'), 'off-policy:temperature', 'off-policy:temperature', 'no-token-ids', 'truncated', 'too-large')} END,
    ending = 'paired', CASE WHEN ending IN ('expired', 'superseded', 'failed') THEN ending END,
    CASE WHEN sample = 'dropped' THEN 'drop' ELSE CASE WHEN decided THEN kept END END::"GateCase",
    CASE sample WHEN 'dropped' THEN why END, CASE sample WHEN 'refused' THEN 'refused:stale' END,
    CASE sample WHEN 'trained' THEN version + 1 END, ending::"Ending",
    CASE WHEN sample IN ('dropped', 'refused') THEN 'drop' ELSE CASE WHEN decided THEN kept END END::"GateCase",
    CASE WHEN sample = 'dropped' THEN why WHEN sample = 'refused' THEN 'refused:stale'
      WHEN ending = 'untrainable' THEN ${pick(draw('untrainable'), 'off-policy:temperature', 'off-policy:temperature', 'no-token-ids', 'truncated', 'too-large')}
      WHEN ending IN ('expired', 'superseded', 'failed') THEN ending END,
    at, at + interval '90 seconds'
  FROM fate`;

const DECISIONS = `
  INSERT INTO decisions ("turnId", "case", reward, reason, method, "evalScore", hint, "rewardSource", "judgeModel", "promptVersion",
    "judgeLatencyMs", "teacherModel", "policyVersion", "currentVersion", person, "decidedAt")
  SELECT id, CASE WHEN sample = 'dropped' THEN 'drop' ELSE kept END::"GateCase",
    CASE WHEN sample <> 'dropped' AND kept <> 'opd' THEN sign(${draw('reward')} - 0.4) WHEN sample <> 'dropped' THEN 0 END,
    CASE sample WHEN 'dropped' THEN why END, 'combine', CASE WHEN kept = 'opd' THEN 0 ELSE sign(${draw('reward')} - 0.4)::int END,
    CASE WHEN kept <> 'rl' THEN 'Answer in short sentences, without a list.' END, 'votes', 'bench-judge', '3',
    exp(5 + 4 * ${draw('latency')}), CASE WHEN kept <> 'rl' THEN 'bench' END, version, version,
    CASE WHEN ${draw('person')} < 0.02 THEN sign(${draw('word')} - 0.4)::int END, at + interval '60 seconds'
  FROM fate WHERE decided`;

const VOTES = `
  INSERT INTO votes ("turnId", kind, ordinal, score, abstained, hint, "latencyMs", "promptTokens", "completionTokens", cost,
    "promptVersion", raw)
  SELECT id, kind::"VoteKind", ordinal, CASE WHEN vote.chance < 0.04 THEN NULL WHEN kind = 'hint' THEN CASE WHEN vote.chance < 0.5
      THEN 1 ELSE -1 END ELSE LEAST(1, round(3 * vote.chance - 1.3)::int) END, CASE WHEN vote.chance < 0.02 THEN 'timeout'
      WHEN vote.chance < 0.04 THEN 'unreadable' END, CASE kind WHEN 'hint' THEN 'Answer in short sentences, without a list.' END,
    300 + 4000 * vote.chance, 700, 60, 0.0004, '3', 'The user asks for it once more, so the answer did not work.'
  FROM fate CROSS JOIN LATERAL (
    SELECT kind, ordinal, (hashtextextended(kind || ordinal || i, 3) & 1048575) / 1048576.0::float8 AS chance
    FROM unnest(ARRAY['eval', 'hint']) kind, generate_series(0, 2) ordinal
  ) vote WHERE decided`;

const SAMPLES = `
  INSERT INTO samples ("turnId", tenant, "case", reward, "policyVersion", "promptTokens", "responseTokens", state, "refusedReason",
    "trainedIn", "createdAt")
  SELECT id, tenant, kept::"GateCase", CASE kept WHEN 'opd' THEN 0 ELSE 1 END, version, 900, 200, sample::"SampleState",
    CASE sample WHEN 'refused' THEN 'stale' END, CASE sample WHEN 'trained' THEN version + 1 END, at
  FROM fate WHERE sample <> 'dropped'`;

/** Texts that turns have in common, so that a million of them are made in minutes. */
const POOL = 5_000;

/** Words as they are met with: few are everywhere, most are rare. "please" is in half of the texts, "ledger" in one of 200. */
const TEXT_POOL = `
  CREATE TEMP TABLE text_pool AS
  SELECT i, request, answer, json_build_object('conversation', json_build_array(json_build_object('role', 'user', 'text', request,
      'toolName', NULL)), 'answer', answer, 'nextState', json_build_array(json_build_object('role', 'user', 'text', next,
      'toolName', NULL)))::text AS texts, strip(to_tsvector('simple', request || ' ' || answer || ' ' || next)) AS words
  FROM (
    SELECT i, array_to_string(words[1:12], ' ') || CASE WHEN ${draw('please')} < 0.5 THEN ' please' ELSE '' END
        || CASE WHEN i % 200 = 0 THEN ' ledger' ELSE '' END AS request,
      array_to_string(words[13:72], ' ') AS answer, array_to_string(words[73:84], ' ') AS next
    FROM (
      SELECT i, array_agg(syllable[1 + (k >> 3 & 31)] || syllable[1 + floor(32 * ((k & 65535) / 65536.0) ^ 2)::int] ||
          CASE WHEN k & 7 = 0 THEN syllable[1 + (k >> 9 & 31)] ELSE '' END) AS words
      FROM generate_series(0, ${POOL - 1}) i, generate_series(1, 84) n,
        LATERAL (SELECT hashtextextended(i || ' ' || n, 11) & 1073741823 AS k) drawn,
        (SELECT ARRAY['ba','ce','di','fo','gu','ha','je','ki','lo','mu','na','pe','qui','ro','su','ta','ve','wi','xo','yu','za','bre',
          'cli','dro','flu','gra','ple','pri','sto','tru','vle','kno'] AS syllable) alphabet
      GROUP BY i
    ) drawn
  ) worded`;

/** "quokka" is in one turn of 200,000. */
const TEXTS = `
  INSERT INTO turn_texts ("turnId", texts, request, answer, words, "storedAt")
  SELECT id, texts, request, answer, CASE WHEN fate.i % 200000 BETWEEN 70 AND 71 THEN words || 'quokka'::tsvector ELSE words END, at
  FROM fate JOIN text_pool ON text_pool.i = (hashtextextended('text' || fate.i, 5) & 1073741823) % ${POOL}
  WHERE ending = 'paired'`;

const STEPS = `
  INSERT INTO steps (version, parent, "turnIds", metrics, "createdAt")
  SELECT version, version - 1, ARRAY(SELECT md5(version || ' ' || n) FROM generate_series(1, 16) n),
    (SELECT json_object_agg('metric_' || n, version * 0.01 + n) FROM generate_series(1, 50) n)::jsonb || '{"drift_nats": 0.4}',
    now() - (${VERSIONS} * 25 - version) * interval '10 minutes'
  FROM generate_series(1, ${VERSIONS} * 25) version`;
const POLICIES = `
  INSERT INTO policy_versions (version, state, adapter, "adapterDir", "createdAt")
  SELECT version, CASE WHEN version % 50 = 0 THEN 'refused' WHEN version % 70 = 0 THEN 'rolled-back' ELSE 'published' END::"VersionState",
    'bench-v' || version, '/policies/v' || version, "createdAt" FROM steps`;
const LETTERS = `
  INSERT INTO dead_letters ("streamSequence", at, "turnId", tenant, subject, consumer, code, error, deliveries)
  SELECT i, 1790000000000 + i, ${id(`'turn' || i`)}, CASE WHEN i % 3 = 0 THEN 'globex' ELSE 'acme' END,
    CASE WHEN i % 5 = 0 THEN 'bench.turn.scored' ELSE 'bench.turn.paired' END, 'dispatcher--bench',
    CASE WHEN i % 100 = 0 THEN 'contract-violation' ELSE 'handler-failed' END, 'it failed', 5
  FROM generate_series(1, 20000) i`;

const TRIGGERED = ['turns', 'samples', 'decisions', 'votes'];

/** Fills empty tables with `turns` turns and what belongs to them. `onDone` hears of every chunk. */
export async function fill(client: Client, turns: number, onDone: (turns: number) => void): Promise<void> {
  await client.query('SET synchronous_commit = off');
  for (const table of TRIGGERED) await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  await client.query('DROP INDEX turn_texts_words_idx');
  await client.query(TEXT_POOL);
  for (let first = 1; first <= turns; first += CHUNK) {
    const last = Math.min(turns, first + CHUNK - 1);
    await client.query('BEGIN');
    await client.query(bound(FATES, first, last, turns));
    for (const statement of [TURNS, DECISIONS, VOTES, SAMPLES, TEXTS]) await client.query(statement);
    await client.query('COMMIT');
    onDone(last - first + 1);
  }
  for (const statement of [STEPS, POLICIES, LETTERS]) await client.query(statement);
}

/** What a ledger that grew by itself has: the index of words, the counts, what the planner knows of the values. */
export async function finish(client: Client): Promise<void> {
  await client.query(`SET maintenance_work_mem = '512MB'`);
  await client.query('CREATE INDEX turn_texts_words_idx ON turn_texts USING gin (words)');
  await client.query(`SET work_mem = '256MB'`);
  await client.query('SELECT rebuild_counts()');
  for (const table of TRIGGERED) await client.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
  await client.query('VACUUM ANALYZE');
}

/** A statement that makes a table takes no parameters. */
const bound = (statement: string, ...values: readonly number[]): string =>
  statement.replace(/\$(\d)/g, (_, place: string) => String(values[Number(place) - 1]));
