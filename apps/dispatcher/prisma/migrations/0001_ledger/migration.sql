-- CreateEnum
CREATE TYPE "Ending" AS ENUM ('open', 'paired', 'untrainable', 'expired', 'superseded', 'failed');

-- CreateEnum
CREATE TYPE "GateCase" AS ENUM ('opdRl', 'opd', 'rl', 'drop');

-- CreateEnum
CREATE TYPE "SampleState" AS ENUM ('ready', 'trained', 'refused');

-- CreateEnum
CREATE TYPE "VoteKind" AS ENUM ('eval', 'hint');

-- CreateEnum
CREATE TYPE "VersionState" AS ENUM ('published', 'refused');

-- CreateTable
CREATE TABLE "sessions" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "turns" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "responseId" TEXT,
    "sessionId" TEXT,
    "policyVersion" INTEGER,
    "model" TEXT,
    "promptTokens" INTEGER,
    "completionTokens" INTEGER,
    "finishReason" TEXT,
    "captured" BOOLEAN NOT NULL,
    "untrainable" TEXT,
    "paired" BOOLEAN NOT NULL,
    "closed" TEXT,
    "closedDetail" TEXT,
    "deadLetter" TEXT,
    "decided" "GateCase",
    "decidedReason" TEXT,
    "refused" TEXT,
    "trainedIn" INTEGER,
    "ending" "Ending" NOT NULL,
    "case" "GateCase",
    "reason" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "turns_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "votes" (
    "turnId" TEXT NOT NULL,
    "kind" "VoteKind" NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "score" INTEGER,
    "abstained" TEXT,
    "hint" TEXT,
    "latencyMs" DOUBLE PRECISION NOT NULL,
    "promptTokens" INTEGER,
    "completionTokens" INTEGER,
    "raw" TEXT NOT NULL,

    CONSTRAINT "votes_pkey" PRIMARY KEY ("turnId","kind","ordinal")
);

-- CreateTable
CREATE TABLE "decisions" (
    "turnId" TEXT NOT NULL,
    "case" "GateCase" NOT NULL,
    "reward" INTEGER,
    "reason" TEXT,
    "method" TEXT NOT NULL,
    "evalScore" INTEGER,
    "hint" TEXT,
    "rewardSource" TEXT,
    "judgeModel" TEXT,
    "promptVersion" TEXT,
    "judgeLatencyMs" DOUBLE PRECISION,
    "teacherModel" TEXT,
    "policyVersion" INTEGER,
    "currentVersion" INTEGER,
    "decidedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "decisions_pkey" PRIMARY KEY ("turnId")
);

-- CreateTable
CREATE TABLE "samples" (
    "turnId" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "case" "GateCase" NOT NULL,
    "reward" INTEGER NOT NULL,
    "policyVersion" INTEGER NOT NULL,
    "promptTokens" INTEGER NOT NULL,
    "responseTokens" INTEGER NOT NULL,
    "state" "SampleState" NOT NULL,
    "refusedReason" TEXT,
    "refusedDetail" TEXT,
    "trainedIn" INTEGER,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "endedAt" TIMESTAMPTZ(3),

    CONSTRAINT "samples_pkey" PRIMARY KEY ("turnId")
);

-- CreateTable
CREATE TABLE "outbox" (
    "turnId" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "tenant" TEXT NOT NULL,
    "body" JSONB,
    "sentAt" TIMESTAMPTZ(3),

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("turnId")
);

-- CreateTable
CREATE TABLE "steps" (
    "version" INTEGER NOT NULL,
    "parent" INTEGER NOT NULL,
    "turnIds" TEXT[],
    "metrics" JSONB NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "steps_pkey" PRIMARY KEY ("version")
);

-- CreateTable
CREATE TABLE "policy_versions" (
    "version" INTEGER NOT NULL,
    "state" "VersionState" NOT NULL,
    "reason" TEXT,
    "adapter" TEXT NOT NULL,
    "adapterDir" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "policy_versions_pkey" PRIMARY KEY ("version")
);

-- CreateTable
CREATE TABLE "dead_letters" (
    "streamSequence" BIGINT NOT NULL,
    "at" BIGINT NOT NULL,
    "turnId" TEXT,
    "tenant" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "consumer" TEXT NOT NULL,
    "code" TEXT NOT NULL,
    "error" TEXT NOT NULL,
    "deliveries" INTEGER NOT NULL,

    CONSTRAINT "dead_letters_pkey" PRIMARY KEY ("streamSequence","at")
);

-- CreateIndex
CREATE INDEX "turns_tenant_ending_case_reason_idx" ON "turns"("tenant", "ending", "case", "reason");

-- CreateIndex
CREATE INDEX "turns_tenant_responseId_idx" ON "turns"("tenant", "responseId");

-- CreateIndex
CREATE INDEX "turns_sessionId_idx" ON "turns"("sessionId");

-- CreateIndex
CREATE INDEX "samples_tenant_state_idx" ON "samples"("tenant", "state");

-- CreateIndex
CREATE INDEX "samples_trainedIn_idx" ON "samples"("trainedIn");

-- CreateIndex
CREATE INDEX "outbox_sentAt_seq_idx" ON "outbox"("sentAt", "seq");

-- CreateIndex
CREATE INDEX "dead_letters_turnId_idx" ON "dead_letters"("turnId");

-- AddForeignKey
ALTER TABLE "policy_versions" ADD CONSTRAINT "policy_versions_version_fkey" FOREIGN KEY ("version") REFERENCES "steps"("version") ON DELETE RESTRICT ON UPDATE CASCADE;
