-- AlterEnum
ALTER TYPE "VersionState" ADD VALUE 'rolled-back';
