import { combinedAdvantages } from '../advantages';
import { gate, type Decision, type Method } from '../gate';

/** A turn as the ledger keeps it, with answers of four tokens. */
export interface RecordedTurn {
  readonly what: string;
  readonly session: string | null;
  readonly reward: number;
  /** Log-probs of the teacher, or why there are none; `null` without a hint. */
  readonly teacher: readonly number[] | string | null;
  readonly rollout: readonly number[];
  /** Versions that the answer's lags behind. */
  readonly lag: number;
  readonly guards: readonly string[];
}

const rollout = [-0.3, -1.2, -0.1, -0.8];
const teacher = [-0.1, -0.3, -0.1, -0.2];
const recorded = (what: string, over: Partial<RecordedTurn>): RecordedTurn => ({
  what,
  session: null,
  reward: 0,
  teacher: null,
  rollout,
  lag: 0,
  guards: [],
  ...over,
});

/** In the order in which they were judged. */
export const RECORDED_TURNS: readonly RecordedTurn[] = [
  recorded('praised, and a hint', { session: 'a', reward: 1, teacher }),
  recorded('corrected, and a hint', { session: 'a', reward: -1, teacher }),
  recorded('a hint alone', { session: 'a', teacher }),
  recorded('praised', { reward: 1 }),
  recorded('corrected', { reward: -1 }),
  recorded('neither', {}),
  recorded('praised, the teacher failed', { reward: 1, teacher: 'template-mismatch' }),
  recorded('a hint alone, the teacher failed', { teacher: 'template-mismatch' }),
  recorded('corrected, and a hint, too old', { reward: -1, teacher, lag: 5 }),
  recorded('neither, first of its session', { session: 'b' }),
  recorded('neither, second of its session', { session: 'b' }),
  recorded('praised, third of its session', { session: 'b', reward: 1 }),
  recorded('an environment’s number, and a hint', { reward: 0.35, teacher }),
  recorded('praised, and a hint, in broken form', { reward: 1, teacher, guards: ['format'] }),
  recorded('corrected, in broken form', { reward: -1, guards: ['format'] }),
];

export interface Trained {
  readonly decision: Decision;
  /** A with both weights 1, `[R]`; `null` when nothing is trained. */
  readonly advantages: Float64Array | null;
}

/** What a method makes of the turns, with the at-least-one rule on. */
export function trainedBy(method: Method, turns: readonly RecordedTurn[] = RECORDED_TURNS): Trained[] {
  const withSample = new Set<string>();
  return turns.map((turn) => {
    const { session, reward, guards, lag } = turn;
    const decision = gate(
      {
        hintAccepted: turn.teacher !== null,
        reward,
        guards,
        teacher: typeof turn.teacher === 'string' ? turn.teacher : turn.teacher === null ? 'none' : 'ok',
        policyVersion: 9 - lag,
        sessionHasSample: session === null ? null : withSample.has(session),
      },
      { method, currentVersion: 9, maxStaleness: 4, atLeastOne: true },
    );
    if (!decision.keep) return { decision, advantages: null };
    if (session !== null) withSample.add(session);
    const logProbs = decision.case === 'rl' ? null : (turn.teacher as readonly number[]);
    return { decision, advantages: combinedAdvantages(decision.reward, turn.rollout, logProbs, { rl: 1, opd: 1 }) };
  });
}
