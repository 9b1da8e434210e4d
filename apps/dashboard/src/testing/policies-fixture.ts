import { CurrentPolicy, VersionsPage, type RollbackAnswer, type RollbackWish } from '@hindcast/contracts';
import type { PoliciesAnswer } from '../api/types';
import { NOW } from './now';
import { randomOf } from './random';
import { madeAt, reasonOf, stateOf } from './training-fixture';

/** How long the trainer of the fixtures takes over a wish, ms. */
const ANSWERED_AFTER_MS = 4_000;
/** Versions whose weights are there: the newest. */
const KEPT = 10;
let wish: RollbackWish | null = null;

export function rollbackFixture(body: { version: number; reason?: string }): { id: string } {
  const id = '00000000-0000-4000-8000-000000000001';
  wish = { id, version: body.version, reason: body.reason ?? null, at: Date.now() };
  return { id };
}

/** A page of `versions` versions beside the base model. The last but one serves, the last is on trial; a wish is answered after a while. */
export function policiesFixture(versions: number, query = new URLSearchParams()): PoliciesAnswer {
  const before = Number(query.get('before') ?? versions + 1);
  const limit = Number(query.get('limit') ?? 50);
  const newest = Math.min(before - 1, versions);
  const length = Math.max(0, Math.min(limit, newest + 1));
  const page = VersionsPage.parse({
    versions: Array.from({ length }, (_, at) => newest - at).map((version) => rowOf(version, versions)),
    next: newest - length >= 0 ? newest - length + 1 : null,
  });
  const isAnswered = wish !== null && Date.now() - wish.at > ANSWERED_AFTER_MS;
  const answer: RollbackAnswer | null =
    wish !== null && isAnswered
      ? { id: wish.id, version: wish.version, state: 'done', message: null, at: wish.at + ANSWERED_AFTER_MS }
      : null;
  const current =
    isAnswered && versions > 0 ? boardOf(wish!.version, wish!.at + ANSWERED_AFTER_MS) : stableBoard(versions);
  const kept = Array.from({ length: Math.min(versions, KEPT) }, (_, at) => versions - at);
  return { ...page, current, kept, rollback: wish === null || versions === 0 ? null : { wish, answer } };
}

function rowOf(version: number, versions: number): unknown {
  const random = randomOf(version + 1);
  const judged = version === versions ? 7 : version === 0 ? 25 : 10 + Math.floor(random() * 60);
  const isSilent = version > 0 && stateOf(version) === 'refused';
  return {
    version,
    state: version === 0 ? 'base' : stateOf(version),
    reason: version === 0 ? null : reasonOf(version),
    parent: version === 0 ? null : version - 1,
    adapter: version === 0 ? null : adapterOf(version),
    at: version === 0 ? null : madeAt(version, versions),
    driftNats: version === 0 ? null : isSilent ? 6.4 : version * 0.08 + random() * 0.6,
    trainedTurns: version === 0 ? 0 : 16,
    served: isSilent
      ? { turns: 0, judged: 0, meanEvalScore: null, hintRate: null }
      : {
          turns: judged + 9,
          judged,
          meanEvalScore: -0.3 + version * 0.02 + random() * 0.2,
          hintRate: Math.max(0, 0.6 - version * 0.008 - random() * 0.1),
        },
  };
}

const adapterOf = (version: number): string => `hindcast-v${String(version).padStart(6, '0')}`;
const boardOf = (version: number, at: number, rest = {}): CurrentPolicy =>
  CurrentPolicy.parse({
    version,
    adapter: version === 0 ? null : adapterOf(version),
    engines: ['http://gpu-1:8000/v1'],
    at,
    ...rest,
  });

function stableBoard(versions: number): CurrentPolicy {
  if (versions === 0) return boardOf(0, 0);
  const canary = {
    version: versions,
    adapter: adapterOf(versions),
    engines: ['http://gpu-1:8000/v1'],
    share: 0.1,
    at: NOW - 180_000,
  };
  return boardOf(versions - 1, NOW - 720_000, { canary });
}
