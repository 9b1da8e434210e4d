-- AlterTable
ALTER TABLE "decisions" ADD COLUMN     "stepScore" INTEGER;

-- Sessions of which some turns are decided and others wait still need the scores of both.
UPDATE "decisions" SET "stepScore" = "evalScore" FROM "turns"
WHERE "turns"."id" = "turnId" AND "outcomePending" AND ("evalScore" <> 0 OR "rewardSource" IN ('feedback', 'joined', 'verifier') OR EXISTS (
  SELECT FROM "votes" WHERE "votes"."turnId" = "turns"."id" AND "kind" = 'eval' AND "score" IS NOT NULL
));

-- AlterTable
ALTER TABLE "session_outcomes" ADD COLUMN     "sequence" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "used" BOOLEAN NOT NULL DEFAULT false;

-- Turns may be decided by an outcome that is there already.
UPDATE "session_outcomes" SET "used" = true;
