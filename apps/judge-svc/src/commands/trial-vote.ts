import { randomBytes } from 'node:crypto';
import type { BodyOf } from '@hindcast/contracts';
import { Log } from '@hindcast/platform';
import type { JudgeConfig } from '../config';
import { readDecision, type VoteForm } from '../core/vote';
import { JudgeEndpoint } from '../judge-endpoint';
import { Questions } from '../questions';
import { StructuredOutput } from '../structured-output';
import { VoteClock } from '../vote-clock';

/** What a trial vote came to. */
export interface TrialVote {
  /** `answered`: with a chat completion, readable or not. */
  readonly outcome: 'answered' | 'refused' | 'silent';
  /** Why there is no answer; never text of the judge. */
  readonly why: string | null;
  /** `null` where the reply cannot be read. */
  readonly score: -1 | 0 | 1 | null;
  /** How the reply said its decision. */
  readonly saidAs: 'json' | 'boxed' | null;
  /** The judge ran into JUDGE_MAX_TOKENS. */
  readonly isCut: boolean;
  /** The beginning of a reply that cannot be read. */
  readonly raw: string | null;
  readonly latencyMs: number;
}

/** A turn on which no judge can be of two minds: the answer is wrong, and the user says so. */
const TURN: BodyOf<'turnPaired'> = {
  responseId: 'trial',
  sessionId: null,
  policyVersion: 0,
  conversation: [{ role: 'user', text: 'How much is two plus two? Answer with the number.', toolName: null }],
  answer: 'Five.',
  nextState: [
    { role: 'user', text: 'That is wrong. Two plus two is four. Please correct your answer.', toolName: null },
  ],
  truncated: false,
  outcomePending: false,
  groundTruth: null,
};

/** One eval vote, sent as the service sends it, without retries. */
export async function trialVote(config: JudgeConfig): Promise<TrialVote> {
  const endpoint = new JudgeEndpoint(config);
  const structured = new StructuredOutput(config, new Log('judge-svc', 'silent'));
  const question = new Questions(config).about(TURN, randomBytes(8).toString('hex')).eval;
  const clock = new VoteClock(config.VOTE_TIMEOUT_MS);
  clock.start();
  try {
    let form: VoteForm = structured.form;
    let answer = await endpoint.send(question.body(form !== 'boxed'), clock);
    if (!answer.ok && form === 'either' && answer.refusesFormat) {
      form = 'boxed';
      answer = await endpoint.send(question.body(false), clock);
    }
    const latencyMs = clock.elapsedMs;
    const nothing = { score: null, saidAs: null, isCut: false, raw: null, latencyMs };
    if (!answer.ok) {
      const why = clock.isExpired ? `no answer within VOTE_TIMEOUT_MS (${config.VOTE_TIMEOUT_MS} ms)` : answer.why;
      return { ...nothing, outcome: answer.why.startsWith('status ') ? 'refused' : 'silent', why };
    }
    const { text, cut } = answer.completion;
    const { score, saidAs } = readDecision('eval', { text, form, failed: null });
    return {
      outcome: 'answered',
      why: null,
      score,
      saidAs,
      isCut: cut,
      raw: score === null ? text.slice(0, 200) : null,
      latencyMs,
    };
  } finally {
    clock.stop();
    await endpoint.onModuleDestroy();
  }
}
