import { encodeCapture, encodeLogProbs, type Capture, type Feedback } from '@hindcast/contracts';
import { Log } from '@hindcast/platform';
import { readConfig } from '../config';
import type { Circumstances, JudgedTurn } from '../core/decide';
import { decideRecording, recordingTexts, type Recording } from '../core/recording';
import { Database } from '../database';
import { storableText } from '../ledger-commit';
import type { Prisma, PrismaClient } from '../generated/client';
import { capture, scoredTurn, unhintedTurn } from './turns';

/** An open ledger for a test's own rows. */
export async function openDatabase(url: string): Promise<Database> {
  const database = new Database(readConfig({ DATABASE_URL: url }), new Log('test', 'silent'));
  await database.open();
  return database;
}

export const circumstances: Circumstances = {
  rule: { method: 'combine', currentVersion: 4, maxStaleness: 4, atLeastOne: false },
  maxSampleBytes: 8_000_000,
  sessionHasSample: null,
  feedbackReward: 'override',
  evalQuorum: 1,
  outcome: null,
};

export const turnIdOf = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

/** Numbers in [0, 1) that are the same each time. */
export function drawsOf(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}

/** A recording with random votes, hints, teachers, feedback and versions. */
export function randomRecording(index: number, draw: () => number): Recording {
  const turnId = turnIdOf(index);
  const pick = <T>(...values: T[]): T => values[Math.floor(draw() * values.length)]!;
  const shared = { responseId: `r-${index}`, policyVersion: pick(0, 3, 4), evalScore: pick<-1 | 0 | 1>(-1, 0, 1) };
  const vote = {
    abstained: null,
    latencyMs: 1,
    promptTokens: 1,
    completionTokens: 1,
    cost: null,
    promptVersion: '1',
    raw: '',
  };
  const hint = `Answer in ${index} short sentences.`;
  const hintVotes = pick([1, 1, -1], [1, -1, -1]).map((score) => ({
    ...vote,
    score: score as 1 | -1,
    hint: score === 1 ? hint : '',
  }));
  const logProbs = Float32Array.from({ length: 3 }, () => -draw());
  const taught = scoredTurn({
    ...shared,
    hint,
    hintVotes,
    teacher: { ok: true, model: 'seed', logProbs: encodeLogProbs(logProbs), topK: null },
  });
  const judged: JudgedTurn = draw() < 0.5 ? taught : unhintedTurn(shared);
  const feedback: Feedback | null =
    draw() < 0.2 ? { reward: pick<-1 | 1>(-1, 1), comment: null, correction: null, at: 1 } : null;
  return { turnId, judged, feedback, circumstances, capture: encodeCapture(capture(turnId, shared.responseId)) };
}

export interface TurnOptions {
  readonly tenant?: string;
  readonly sessionId?: string;
  readonly userId?: string | null;
  readonly trainedIn?: number | null;
  readonly turn?: Partial<Prisma.TurnCreateManyInput>;
}

/** The rows of a decided turn as the dispatcher stores them. */
export async function storeDecided(
  prisma: PrismaClient,
  recording: Recording,
  { tenant = 'acme', sessionId = '0123456789abcdef', userId = null, trainedIn = null, turn = {} }: TurnOptions = {},
): Promise<void> {
  const { turnId, judged } = recording;
  const decision = decideRecording(recording);
  const { case: gateCase, reason, reward, evalScore, rewardSource, sample } = decision;
  const facts = {
    id: turnId,
    tenant,
    revision: 3,
    responseId: judged.responseId,
    sessionId,
    userId,
    policyVersion: judged.policyVersion,
  };
  await prisma.turn.create({
    data: {
      ...facts,
      model: 'seed',
      finishReason: 'stop',
      captured: true,
      paired: true,
      decided: gateCase,
      decidedReason: reason,
      trainedIn,
      ending: 'paired',
      case: gateCase,
      reason,
      ...turn,
    },
  });
  await prisma.session.createMany({ data: [{ id: sessionId, tenant }], skipDuplicates: true });
  await prisma.decision.create({
    data: {
      turnId,
      case: gateCase,
      reward,
      reason,
      method: 'combine',
      evalScore,
      rewardSource,
      hint: judged.hint,
      judgeModel: judged.judgeModel,
      promptVersion: judged.promptVersion,
    },
  });
  const votes = judged.evalVotes.map(({ score, abstained, raw, latencyMs }, ordinal) => ({
    turnId,
    kind: 'eval' as const,
    ordinal,
    score,
    abstained,
    raw: storableText(raw),
    latencyMs,
  }));
  await prisma.vote.createMany({ data: votes });
  const texts = recordingTexts(recording);
  await prisma.recording.create({
    data: { ...texts, capture: texts.capture && new Uint8Array(texts.capture), tenant, sessionId },
  });
  if (sample === null) return;
  const tokens = { promptTokens: sample.promptIds.length, responseTokens: sample.responseIds.length };
  const state = trainedIn === null ? ('ready' as const) : ('trained' as const);
  await prisma.sample.create({
    data: {
      turnId,
      tenant,
      case: sample.case,
      reward: sample.reward,
      policyVersion: sample.policyVersion,
      ...tokens,
      state,
      trainedIn,
    },
  });
  await prisma.outboxEntry.create({ data: { turnId, tenant, body: null, sentAt: new Date() } });
}

/** Captures of a test hold their texts where real ones do. */
export const withTexts = (given: Capture, text: string): Capture => ({
  ...given,
  header: {
    ...given.header,
    messages: [{ role: 'user', content: text }],
    answer: { role: 'assistant', content: text },
  },
});
