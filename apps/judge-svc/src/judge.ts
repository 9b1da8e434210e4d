import { parseEvalVote, parseHintVote } from '@hindcast/advantage';
import { DependencyUnavailable, Feedback, type BodyOf, type EvalVote, type HintVote } from '@hindcast/contracts';
import { Buckets, CONFIG } from '@hindcast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import type { JudgeConfig } from './config';
import { judgement, planVotes, type Judgement } from './core/judgement';
import { PROMPT_VERSION, evalPrompt, hintPrompt } from './core/prompts';
import { JudgeClient, type Reply } from './judge-client';

/** Judges a paired turn: feedback if a person gave some, else 2m votes, all at once. */
@Injectable()
export class Judge {
  constructor(
    @Inject(CONFIG) private readonly config: JudgeConfig,
    private readonly client: JudgeClient,
    private readonly buckets: Buckets,
  ) {}

  async judge(turnId: string, turn: BodyOf<'turnPaired'>): Promise<Judgement> {
    const start = performance.now();
    const feedback = await this.feedbackOn(turnId);
    const plan = planVotes(turn.nextState.length, feedback, {
      evalVotes: this.config.EVAL_VOTES,
      hintVotes: this.config.HINT_VOTES,
    });
    const [evalVotes, hintVotes] = await Promise.all([
      Promise.all(
        Array.from({ length: plan.evalVotes }, async () => evalVote(await this.client.ask(evalPrompt(turn, mark())))),
      ),
      Promise.all(
        Array.from({ length: plan.hintVotes }, async () => hintVote(await this.client.ask(hintPrompt(turn, mark())))),
      ),
    ]);
    return judgement(turn, { evalVotes, hintVotes }, feedback, {
      hintAcceptance: this.config.HINT_ACCEPTANCE,
      quorum: this.config.EVAL_QUORUM,
      judgeModel: this.config.JUDGE_MODEL,
      promptVersion: PROMPT_VERSION,
      latencyMs: Math.round(performance.now() - start),
    });
  }

  private async feedbackOn(turnId: string): Promise<Feedback | null> {
    try {
      const entry = await (await this.buckets.open('feedback')).get(turnId);
      return entry?.operation === 'PUT' ? Feedback.parse(entry.json()) : null;
    } catch (cause) {
      throw new DependencyUnavailable('nats', 'the feedback bucket cannot be read', 1_000, { cause });
    }
  }
}

const mark = (): string => randomBytes(8).toString('hex');

/** Raw replies are kept for audits, but not without bound. Characters. */
const RAW_LIMIT = 4_000;

const evalVote = (reply: Reply): EvalVote => {
  const score = reply.failed ? null : parseEvalVote(reply.text);
  return {
    score,
    abstained: reply.failed ?? (score === null ? 'unreadable' : null),
    latencyMs: reply.latencyMs,
    promptTokens: reply.promptTokens,
    completionTokens: reply.completionTokens,
    cost: null,
    promptVersion: PROMPT_VERSION,
    raw: reply.text.slice(0, RAW_LIMIT),
  };
};

const hintVote = (reply: Reply): HintVote => {
  const { score, hint } = reply.failed ? { score: null, hint: '' } : parseHintVote(reply.text);
  return { ...evalVote(reply), score, abstained: reply.failed ?? (score === null ? 'unreadable' : null), hint };
};
