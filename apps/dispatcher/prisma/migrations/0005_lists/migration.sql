-- No question groups the turns by it any more: the counts below answer.
-- DropIndex
DROP INDEX "turns_tenant_ending_case_reason_idx";

-- AlterTable
ALTER TABLE "dead_letters" ADD COLUMN     "outcome" TEXT;

-- AlterTable
ALTER TABLE "decisions" ADD COLUMN     "person" INTEGER;

-- CreateTable
CREATE TABLE "turn_texts" (
    "turnId" TEXT NOT NULL,
    "texts" TEXT NOT NULL,
    "request" TEXT NOT NULL,
    "answer" TEXT NOT NULL,
    "words" tsvector NOT NULL,
    "storedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "turn_texts_pkey" PRIMARY KEY ("turnId")
);

-- CreateTable
CREATE TABLE "trained_tokens" (
    "turnId" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "advantages" BYTEA NOT NULL,
    "oldLogProbs" BYTEA NOT NULL,
    "newLogProbs" BYTEA,
    "clipEpsilonLow" DOUBLE PRECISION NOT NULL,
    "clipEpsilonHigh" DOUBLE PRECISION NOT NULL,
    "storedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "trained_tokens_pkey" PRIMARY KEY ("turnId")
);

-- CreateTable
CREATE TABLE "turn_counts" (
    "id" BIGSERIAL NOT NULL,
    "tenant" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "ending" "Ending" NOT NULL,
    "case" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "turns" BIGINT NOT NULL,
    "changes" BIGINT NOT NULL,
    "fresh" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "turn_counts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sample_counts" (
    "id" BIGSERIAL NOT NULL,
    "tenant" TEXT NOT NULL,
    "state" "SampleState" NOT NULL,
    "samples" BIGINT NOT NULL,
    "fresh" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "sample_counts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "version_counts" (
    "id" BIGSERIAL NOT NULL,
    "version" INTEGER NOT NULL,
    "turns" BIGINT NOT NULL,
    "judged" BIGINT NOT NULL,
    "scored" BIGINT NOT NULL,
    "score" BIGINT NOT NULL,
    "hints" BIGINT NOT NULL,
    "fresh" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "version_counts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "judge_counts" (
    "id" BIGSERIAL NOT NULL,
    "tenant" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "fact" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "count" BIGINT NOT NULL,
    "total" DOUBLE PRECISION NOT NULL,
    "fresh" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "judge_counts_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "turn_texts_storedAt_idx" ON "turn_texts"("storedAt");

-- CreateIndex
CREATE INDEX "turn_texts_words_idx" ON "turn_texts" USING GIN ("words");

-- CreateIndex
CREATE INDEX "trained_tokens_storedAt_idx" ON "trained_tokens"("storedAt");

-- CreateIndex
CREATE INDEX "version_counts_version_idx" ON "version_counts"("version");

-- CreateIndex
CREATE INDEX "judge_counts_tenant_fact_day_name_idx" ON "judge_counts"("tenant", "fact", "day", "name");

-- CreateIndex
CREATE INDEX "turns_tenant_createdAt_id_idx" ON "turns"("tenant", "createdAt", "id");

-- CreateIndex
CREATE INDEX "turns_tenant_policyVersion_createdAt_id_idx" ON "turns"("tenant", "policyVersion", "createdAt", "id");

-- Arrays of floats hardly shrink, and trying costs more CPU than all else that is done with them.
ALTER TABLE "trained_tokens" ALTER COLUMN "advantages" SET STORAGE EXTERNAL;
ALTER TABLE "trained_tokens" ALTER COLUMN "oldLogProbs" SET STORAGE EXTERNAL;
ALTER TABLE "trained_tokens" ALTER COLUMN "newLogProbs" SET STORAGE EXTERNAL;

-- The same as stateOf in src/core/story.ts.
CREATE FUNCTION turn_state("trainedIn" integer, ending "Ending", "case" "GateCase", judged boolean) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN $1 IS NOT NULL THEN 'trained'
    WHEN $2 = 'open' THEN 'open'
    WHEN $2 <> 'paired' THEN 'closed'
    WHEN $3 IS NOT NULL THEN 'decided'
    WHEN $4 THEN 'judged'
    ELSE 'paired'
  END
$$;

-- What the list of turns is filtered by, in one text: '<state>/<case>/<reason>'.
CREATE FUNCTION turn_group("trainedIn" integer, ending "Ending", "case" "GateCase", judged boolean, reason text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN $1 IS NOT NULL THEN 'trained'
    WHEN $2 = 'open' THEN 'open'
    WHEN $2 <> 'paired' THEN 'closed'
    WHEN $3 IS NOT NULL THEN 'decided'
    WHEN $4 THEN 'judged'
    ELSE 'paired'
  END || CASE $3 WHEN 'opdRl' THEN '/opdRl/' WHEN 'opd' THEN '/opd/' WHEN 'rl' THEN '/rl/' WHEN 'drop' THEN '/drop/' ELSE '//' END
    || COALESCE($5, '')
$$;

CREATE INDEX turns_group_idx ON turns (tenant, turn_group("trainedIn", ending, "case", judged, reason), "createdAt", id);
CREATE INDEX turn_counts_fresh_idx ON turn_counts (id) WHERE fresh;
CREATE INDEX sample_counts_fresh_idx ON sample_counts (id) WHERE fresh;
CREATE INDEX version_counts_fresh_idx ON version_counts (id) WHERE fresh;
CREATE INDEX judge_counts_fresh_idx ON judge_counts (id) WHERE fresh;
CREATE INDEX dead_letters_waiting_idx ON dead_letters (at, "streamSequence") WHERE outcome IS NULL;
CREATE INDEX decisions_person_idx ON decisions ("decidedAt") WHERE person IS NOT NULL;

-- The counts. A trigger's rows are called `changed`; its argument says whether they came (1) or went (-1). An update is both.
CREATE FUNCTION count_turns() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE sign integer := TG_ARGV[0]::integer;
BEGIN
  INSERT INTO turn_counts (tenant, state, ending, "case", reason, turns, changes)
    SELECT c.tenant, turn_state(c."trainedIn", c.ending, c."case", c.judged), c.ending, COALESCE(c."case"::text, ''),
      COALESCE(c.reason, ''), sign * count(*), count(*)
    FROM changed c GROUP BY 1, 2, 3, 4, 5;
  INSERT INTO version_counts (version, turns, judged, scored, score, hints)
    SELECT c."policyVersion", sign * count(*), 0, 0, 0, 0
    FROM changed c WHERE c."policyVersion" IS NOT NULL GROUP BY 1;
  RETURN NULL;
END $$;

CREATE FUNCTION count_samples() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sample_counts (tenant, state, samples)
    SELECT c.tenant, c.state, TG_ARGV[0]::integer * count(*) FROM changed c GROUP BY 1, 2;
  RETURN NULL;
END $$;

-- Milliseconds in steps of 2 %: of any two latencies that are further apart than that the larger one stays the larger one.
CREATE FUNCTION latency_step(ms double precision) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $1 < 1 THEN 0 ELSE round(exp(round(ln($1) / ln(1.02::float8)) * ln(1.02::float8)))::bigint END
$$;

CREATE FUNCTION count_decisions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE sign integer := TG_ARGV[0]::integer;
BEGIN
  IF NOT EXISTS (SELECT FROM changed WHERE "judgeModel" IS NOT NULL) THEN RETURN NULL; END IF;
  INSERT INTO version_counts (version, turns, judged, scored, score, hints)
    SELECT c."policyVersion", 0, sign * count(*), sign * count(c."evalScore"), sign * COALESCE(sum(c."evalScore"), 0),
      sign * count(c.hint)
    FROM changed c WHERE c."judgeModel" IS NOT NULL AND c."policyVersion" IS NOT NULL GROUP BY 1;
  INSERT INTO judge_counts (tenant, day, fact, name, count, total)
    SELECT scope.tenant, (c."decidedAt" AT TIME ZONE 'UTC')::date, fact.fact, fact.name, sign * count(*), 0
    FROM changed c JOIN turns t ON t.id = c."turnId"
    CROSS JOIN LATERAL (VALUES
      ('judged', CASE WHEN c."teacherModel" IS NULL THEN 'unhinted' ELSE 'hinted' END),
      ('latency', latency_step(c."judgeLatencyMs")::text)
    ) fact (fact, name)
    CROSS JOIN LATERAL (VALUES (t.tenant), ('')) scope (tenant)
    WHERE c."judgeModel" IS NOT NULL AND fact.name IS NOT NULL GROUP BY 1, 2, 3, 4;
  RETURN NULL;
END $$;

-- The most frequent value; 0 where two are as frequent. The same as majorityScore in libs/advantage.
CREATE FUNCTION majority_score(up bigint, zero bigint, down bigint) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $1 > $2 AND $1 > $3 THEN 1 WHEN $3 > $1 AND $3 > $2 THEN -1 ELSE 0 END
$$;

-- Votes of a turn come with its decision or after it, all at once, and go all at once; they never change.
CREATE FUNCTION count_votes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE sign integer := TG_ARGV[0]::integer;
BEGIN
  IF NOT EXISTS (SELECT FROM changed) THEN RETURN NULL; END IF;
  INSERT INTO judge_counts (tenant, day, fact, name, count, total)
    WITH vote AS (
      SELECT c.*, t.tenant, (d."decidedAt" AT TIME ZONE 'UTC')::date AS day, d.person
      FROM changed c JOIN decisions d USING ("turnId") JOIN turns t ON t.id = c."turnId"
    ), turn AS (
      SELECT tenant, day, person, count(*) AS readable, min(score) = max(score) AS unanimous,
        majority_score(count(*) FILTER (WHERE score = 1), count(*) FILTER (WHERE score = 0), count(*) FILTER (WHERE score = -1))
          AS majority
      FROM vote WHERE kind = 'eval' AND score IS NOT NULL GROUP BY "turnId", 1, 2, 3
    ), fact AS (
      SELECT tenant, day, CASE kind WHEN 'eval' THEN 'eval' ELSE 'hint' END AS fact, score::text AS name, count(*) AS count,
        0::double precision AS total
      FROM vote WHERE score IS NOT NULL GROUP BY 1, 2, 3, 4
      UNION ALL
      SELECT tenant, day, CASE kind WHEN 'eval' THEN 'eval-abstained' ELSE 'hint-abstained' END,
        COALESCE(abstained, 'unreadable'), count(*), 0
      FROM vote WHERE score IS NULL GROUP BY 1, 2, 3, 4
      UNION ALL
      SELECT tenant, day, 'tokens', '', count(*), sum(COALESCE("promptTokens", 0) + COALESCE("completionTokens", 0))
      FROM vote GROUP BY 1, 2
      UNION ALL
      SELECT tenant, day, 'cost', '', count(*), sum(cost) FROM vote WHERE cost IS NOT NULL GROUP BY 1, 2
      UNION ALL
      SELECT tenant, day, 'score', '', count(*), sum(majority) FROM turn GROUP BY 1, 2
      UNION ALL
      SELECT tenant, day, 'agreement', CASE WHEN unanimous THEN 'unanimous' ELSE 'split' END, count(*), 0
      FROM turn WHERE readable > 1 GROUP BY 1, 2, 4
      UNION ALL
      SELECT tenant, day, 'human', majority || ' ' || person, count(*), 0 FROM turn WHERE person IS NOT NULL GROUP BY 1, 2, 4
    )
    SELECT scope.tenant, fact.day, fact.fact, fact.name, sign * sum(fact.count), sign * sum(fact.total)
    FROM fact CROSS JOIN LATERAL (VALUES (fact.tenant), ('')) scope (tenant) GROUP BY 1, 2, 3, 4;
  RETURN NULL;
END $$;

-- A person's word that comes after the votes.
CREATE FUNCTION count_people() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM changed WHERE person IS NOT NULL) THEN RETURN NULL; END IF;
  INSERT INTO judge_counts (tenant, day, fact, name, count, total)
    SELECT scope.tenant, turn.day, 'human', turn.majority || ' ' || turn.person, TG_ARGV[0]::integer * count(*), 0
    FROM (
      SELECT t.tenant, (c."decidedAt" AT TIME ZONE 'UTC')::date AS day, c.person,
        majority_score(count(*) FILTER (WHERE v.score = 1), count(*) FILTER (WHERE v.score = 0),
          count(*) FILTER (WHERE v.score = -1)) AS majority
      FROM changed c JOIN turns t ON t.id = c."turnId" JOIN votes v ON v."turnId" = c."turnId"
      WHERE c.person IS NOT NULL AND v.kind = 'eval' AND v.score IS NOT NULL GROUP BY c."turnId", 1, 2, 3
    ) turn
    CROSS JOIN LATERAL (VALUES (turn.tenant), ('')) scope (tenant) GROUP BY 1, 2, 4;
  RETURN NULL;
END $$;

CREATE TRIGGER count_came AFTER INSERT ON turns REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_turns('1');
CREATE TRIGGER count_was AFTER UPDATE ON turns REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_turns('-1');
CREATE TRIGGER count_is AFTER UPDATE ON turns REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_turns('1');
CREATE TRIGGER count_went AFTER DELETE ON turns REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_turns('-1');
CREATE TRIGGER count_came AFTER INSERT ON samples REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_samples('1');
CREATE TRIGGER count_was AFTER UPDATE ON samples REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_samples('-1');
CREATE TRIGGER count_is AFTER UPDATE ON samples REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_samples('1');
CREATE TRIGGER count_went AFTER DELETE ON samples REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_samples('-1');
CREATE TRIGGER count_came AFTER INSERT ON decisions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_decisions('1');
CREATE TRIGGER count_was AFTER UPDATE ON decisions REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_decisions('-1');
CREATE TRIGGER count_is AFTER UPDATE ON decisions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_decisions('1');
CREATE TRIGGER count_went AFTER DELETE ON decisions REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_decisions('-1');
CREATE TRIGGER count_person_was AFTER UPDATE ON decisions REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_people('-1');
CREATE TRIGGER count_person_is AFTER UPDATE ON decisions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_people('1');
CREATE TRIGGER count_came AFTER INSERT ON votes REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_votes('1');
CREATE TRIGGER count_went AFTER DELETE ON votes REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_votes('-1');

-- Makes all counts anew from the rows, by the same triggers on copies of them. Nobody may write meanwhile.
CREATE FUNCTION rebuild_counts() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE turns, samples, decisions, votes IN SHARE ROW EXCLUSIVE MODE;
  DELETE FROM turn_counts;
  DELETE FROM sample_counts;
  DELETE FROM version_counts;
  DELETE FROM judge_counts;
  CREATE TEMP TABLE all_turns (LIKE turns) ON COMMIT DROP;
  CREATE TEMP TABLE all_samples (LIKE samples) ON COMMIT DROP;
  CREATE TEMP TABLE all_decisions (LIKE decisions) ON COMMIT DROP;
  CREATE TEMP TABLE all_votes (LIKE votes) ON COMMIT DROP;
  CREATE TRIGGER count_came AFTER INSERT ON all_turns REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_turns('1');
  CREATE TRIGGER count_came AFTER INSERT ON all_samples REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_samples('1');
  CREATE TRIGGER count_came AFTER INSERT ON all_decisions REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_decisions('1');
  CREATE TRIGGER count_came AFTER INSERT ON all_votes REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_votes('1');
  INSERT INTO all_turns SELECT * FROM turns;
  INSERT INTO all_samples SELECT * FROM samples;
  INSERT INTO all_decisions SELECT * FROM decisions;
  INSERT INTO all_votes ("turnId", kind, ordinal, score, abstained, "latencyMs", "promptTokens", "completionTokens", cost, raw)
    SELECT "turnId", kind, ordinal, score, abstained, "latencyMs", "promptTokens", "completionTokens", cost, '' FROM votes;
  DROP TABLE all_turns, all_samples, all_decisions, all_votes;
END $$;

-- What people said before the decision; where they replaced the votes and nothing was recorded, the score is theirs.
UPDATE decisions SET person = "evalScore" WHERE "rewardSource" = 'feedback';
UPDATE decisions SET person = (recordings.feedback::json ->> 'reward')::integer
  FROM recordings WHERE recordings."turnId" = decisions."turnId" AND recordings.feedback IS NOT NULL;

SELECT rebuild_counts();
