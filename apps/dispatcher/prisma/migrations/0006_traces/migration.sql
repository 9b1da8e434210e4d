-- AlterTable
ALTER TABLE "outbox" ADD COLUMN     "trace" TEXT;

-- AlterTable
ALTER TABLE "held_turns" ADD COLUMN     "trace" TEXT;
