-- AlterTable
ALTER TABLE "decisions" ADD COLUMN     "guards" JSONB,
ADD COLUMN     "verdicts" JSONB,
ALTER COLUMN "reward" SET DATA TYPE DOUBLE PRECISION;

-- AlterTable
ALTER TABLE "outbox" ADD COLUMN     "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ALTER COLUMN "body" SET DATA TYPE BYTEA USING convert_to("body"::text, 'UTF8');

-- An entry without a body was ended: nothing is left to send.
UPDATE "outbox" SET "sentAt" = CURRENT_TIMESTAMP WHERE "sentAt" IS NULL AND "body" IS NULL;

-- AlterTable
ALTER TABLE "samples" ALTER COLUMN "reward" SET DATA TYPE DOUBLE PRECISION;

-- AlterTable
ALTER TABLE "turns" ADD COLUMN     "judged" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "outcomePending" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "userId" TEXT;

-- AlterTable
ALTER TABLE "votes" ADD COLUMN     "cost" DOUBLE PRECISION,
ADD COLUMN     "promptVersion" TEXT;

-- CreateTable
CREATE TABLE "recordings" (
    "turnId" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "tenant" TEXT NOT NULL,
    "sessionId" TEXT,
    "judged" TEXT NOT NULL,
    "capture" BYTEA,
    "feedback" TEXT,
    "circumstances" TEXT NOT NULL,
    "decidedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "recordings_pkey" PRIMARY KEY ("turnId")
);

-- CreateTable
CREATE TABLE "held_turns" (
    "turnId" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "sessionId" TEXT NOT NULL,
    "judged" TEXT NOT NULL,
    "heldAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "held_turns_pkey" PRIMARY KEY ("turnId")
);

-- CreateTable
CREATE TABLE "session_outcomes" (
    "tenant" TEXT NOT NULL,
    "sessionId" TEXT NOT NULL,
    "reward" DOUBLE PRECISION NOT NULL,
    "comment" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "late" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "session_outcomes_pkey" PRIMARY KEY ("tenant","sessionId")
);

-- CreateTable
CREATE TABLE "forgotten" (
    "id" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "tenant" TEXT NOT NULL,
    "selector" TEXT NOT NULL,
    "selectorHash" TEXT NOT NULL,
    "deleted" JSONB NOT NULL,
    "versions" INTEGER[],

    CONSTRAINT "forgotten_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "recordings_seq_key" ON "recordings"("seq");

-- CreateIndex
CREATE INDEX "recordings_decidedAt_idx" ON "recordings"("decidedAt");

-- CreateIndex
CREATE INDEX "recordings_sessionId_idx" ON "recordings"("sessionId");

-- CreateIndex
CREATE INDEX "held_turns_tenant_sessionId_idx" ON "held_turns"("tenant", "sessionId");

-- CreateIndex
CREATE INDEX "held_turns_expiresAt_idx" ON "held_turns"("expiresAt");

-- CreateIndex
CREATE INDEX "forgotten_tenant_idx" ON "forgotten"("tenant");

-- CreateIndex
CREATE INDEX "turns_tenant_userId_idx" ON "turns"("tenant", "userId");

-- Token ids, floats and base64 hardly shrink, and trying costs more CPU than all else that is done with them.
ALTER TABLE "recordings" ALTER COLUMN "capture" SET STORAGE EXTERNAL;
ALTER TABLE "recordings" ALTER COLUMN "judged" SET STORAGE EXTERNAL;
ALTER TABLE "held_turns" ALTER COLUMN "judged" SET STORAGE EXTERNAL;
ALTER TABLE "outbox" ALTER COLUMN "body" SET STORAGE EXTERNAL;
