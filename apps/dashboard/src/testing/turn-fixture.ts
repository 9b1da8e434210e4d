import {
  encodeIds,
  encodeLogProbs,
  encodeNumbers,
  type ShownTurn,
  TurnDetail,
  type TurnRow,
} from '@hindcast/contracts';
import { NOW } from './now';
import { pick, randomOf } from './random';

const WORDS = [
  'The',
  ' tide',
  ' follows',
  ' the',
  ' moon',
  ',',
  ' because',
  ' its',
  ' pull',
  ' on',
  ' water',
  '.',
  '\n',
  ' Ebbe',
  ' 🌊',
  '  ',
];

/** A turn of that many sampled tokens, with all that the ledger can know of it for its state. */
export function turnFixture(row: TurnRow, length = 96): ShownTurn {
  const random = randomOf(row.turnId.charCodeAt(0) * 977 + length);
  const texts = Array.from({ length }, () => pick(random, WORDS));
  const rollout = Float32Array.from({ length }, () => -2.5 * random() ** 3);
  const hasTeacher = row.case === 'opdRl' || row.case === 'opd';
  const teacher = rollout.map((logProb) => Math.min(0, logProb + (random() - 0.45) * 1.6));
  const reward = row.reward ?? 0;
  const advantages = rollout.map((logProb, t) => 0.5 * reward + (hasTeacher ? teacher[t]! - logProb : 0));
  const isTrained = row.state === 'trained';
  const isDecided = row.case !== null;
  const isJudged = isDecided || row.state === 'judged';
  const vote = (kind: 'eval' | 'hint', ordinal: number) => {
    const abstained = kind === 'eval' && ordinal === 2 ? ('unreadable' as const) : null;
    return {
      kind,
      ordinal,
      score: abstained ? null : kind === 'hint' ? (row.hasHint ? 1 : -1) : (row.evalScore ?? 1),
      abstained,
      latencyMs: 420 + Math.floor(random() * 900),
      promptTokens: 812,
      completionTokens: 96,
      cost: 0.00042,
      promptVersion: '3',
      raw: `The user asked again in other words, so the answer did not work.\n\\boxed{${abstained ? '' : (row.evalScore ?? 1)}}`,
      hint: kind === 'hint' && row.hasHint ? 'Answer in plain sentences; the user does not want lists.' : null,
    };
  };
  const detail = TurnDetail.parse({
    turn: { ...row, completionTokens: length },
    conversation: [
      { role: 'system', text: 'You are a helpful assistant of a tide-table shop.', toolName: null },
      { role: 'user', text: 'What is a tide table?', toolName: null },
      { role: 'assistant', text: 'A list of the times of high and low water.', toolName: null },
      { role: 'tool', text: '{"station":"Wilhelmshaven","high":["04:12","16:40"]}', toolName: 'tides' },
      { role: 'user', text: row.request ?? 'And why do tides happen?', toolName: null },
    ],
    answer: texts.join('').slice(0, 4_000),
    nextState: row.state === 'open' ? null : [{ role: 'user', text: 'Please do not use lists.', toolName: null }],
    votes: isJudged ? [0, 1, 2].flatMap((i) => [vote('eval', i), vote('hint', i)]) : [],
    decision: isDecided
      ? {
          case: row.case,
          reward: row.reward,
          reason: row.reason,
          method: 'combine',
          evalScore: row.evalScore,
          hint: row.hasHint ? 'Answer in plain sentences; the user does not want lists.' : null,
          rewardSource: 'votes',
          judgeModel: 'demo-judge',
          promptVersion: '3',
          judgeLatencyMs: 1_320,
          teacherModel: hasTeacher ? 'qwen' : null,
          verdicts: [{ verifier: 'exit-code', score: null, detail: 'no tool result with an exit code' }],
          guards: row.reason?.startsWith('guard:') ? ['repetition'] : [],
          policyVersion: row.policyVersion,
          currentVersion: row.policyVersion === null ? null : row.policyVersion + 1,
          at: row.updatedAt,
        }
      : null,
    feedback:
      row.tenant === 'support' ? { reward: -1, comment: 'Lists again.', correction: null, at: NOW - 60_000 } : null,
    tokens: {
      ids: encodeIds(texts.map((text) => WORDS.indexOf(text) + 300)),
      rollout: encodeLogProbs(rollout),
      teacher: hasTeacher ? encodeLogProbs(teacher) : null,
    },
    trained: isTrained
      ? {
          version: row.trainedIn,
          advantages: encodeNumbers(advantages),
          oldLogProbs: encodeLogProbs(rollout),
          newLogProbs: encodeLogProbs(
            rollout.map((logProb, t) => Math.min(0, logProb + Math.sign(advantages[t]!) * random() * 0.4)),
          ),
          clipEpsilonLow: 0.2,
          clipEpsilonHigh: 0.28,
        }
      : null,
    detail: row.state === 'closed' ? 'nobody continued the conversation in 86400 s' : null,
  });
  const isWaiting = row.state === 'decided' && row.case !== 'drop';
  return { detail, texts, expected: isWaiting ? { advantages: encodeNumbers(advantages), wRl: 0.5, wOpd: 1 } : null };
}
