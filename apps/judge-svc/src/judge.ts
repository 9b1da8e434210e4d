import { guardHits, verify } from '@hindcast/advantage';
import { DependencyUnavailable, Feedback, type BodyOf, readNewer } from '@hindcast/contracts';
import { Buckets, CONFIG, Log, inSpan, type SpanAttributes } from '@hindcast/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { KV, KvEntry } from '@nats-io/kv';
import { randomUUID } from 'node:crypto';
import type { JudgeConfig } from './config';
import { guessOf } from './core/budget';
import {
  judgement,
  planVotes,
  type Evidence,
  type Judgement,
  type JudgementRule,
  type VotePlan,
} from './core/judgement';
import { PROMPT_VERSION } from './core/prompts';
import { costOf, evalVote, hintVote, readDecision, type Decision, type Prices, type Reply } from './core/vote';
import { JudgeBudget } from './judge-budget';
import { JudgeClient } from './judge-client';
import { JudgeMetrics } from './judge-metrics';
import { Questions, type Question } from './questions';
import { StructuredOutput } from './structured-output';

type PairedTurn = BodyOf<'turnPaired'>;
type Read = readonly [Reply, Decision];

/** Judges a paired turn: by what a person said, by what verifiers say, and by 2m votes, all at once. */
@Injectable()
export class Judge {
  private readonly prices: Prices | null;
  private readonly rule: JudgementRule;
  private feedback: Promise<KV> | null = null;

  constructor(
    @Inject(CONFIG) private readonly config: JudgeConfig,
    private readonly questions: Questions,
    private readonly client: JudgeClient,
    private readonly budget: JudgeBudget,
    private readonly structured: StructuredOutput,
    private readonly metrics: JudgeMetrics,
    private readonly buckets: Buckets,
    private readonly log: Log,
  ) {
    const { JUDGE_PRICE_PROMPT: prompt, JUDGE_PRICE_COMPLETION: completion } = config;
    this.prices = prompt === undefined || completion === undefined ? null : { prompt, completion };
    this.rule = {
      hintAcceptance: config.HINT_ACCEPTANCE,
      evalQuorum: config.EVAL_QUORUM,
      hintQuorum: config.HINT_QUORUM,
    };
  }

  /** @throws DependencyUnavailable when feedback cannot be read, the budget is spent, or the service shuts down */
  async judge(turnId: string, turn: PairedTurn): Promise<Judgement> {
    const evidence: Evidence = {
      feedback: await this.feedbackOn(turnId),
      verdicts: verify(this.config.VERIFIERS, turn),
      feedbackReward: this.config.FEEDBACK_REWARD,
    };
    const { EVAL_VOTES: evalVotes, HINT_VOTES: hintVotes } = this.config;
    const { votes, latencyMs } = await this.vote(
      turn,
      planVotes(turn.nextState.length, evidence, { evalVotes, hintVotes }),
    );
    const judged = judgement(turn, votes, evidence, this.rule, {
      guards: guardHits(this.config.GUARDS, turn.answer),
      judgeModel: this.config.JUDGE_MODEL,
      promptVersion: PROMPT_VERSION,
      latencyMs,
    });
    this.metrics.judged(judged);
    return judged;
  }

  private async vote(turn: PairedTurn, plan: VotePlan) {
    const planned = plan.evalVotes + plan.hintVotes;
    if (planned === 0) return { votes: { evalVotes: [], hintVotes: [] }, latencyMs: 0 };
    // The texts are fixed before the mark is drawn, so none of them can know it: one mark does for all votes on a turn.
    const questions = this.questions.about(turn, randomMark());
    const { size } = plan.hintVotes > 0 ? questions.hint : questions.eval;
    const admission = await this.budget.admit(guessOf(planned, size, this.config.JUDGE_MAX_TOKENS, this.prices));
    const start = performance.now();
    const [evals, hints] = await Promise.all([
      this.ask(questions.eval, plan.evalVotes),
      this.ask(questions.hint, plan.hintVotes),
    ]);
    const latencyMs = Math.round(performance.now() - start);
    this.budget.settle(
      admission,
      [...evals, ...hints].map(([reply]) => ({ ...reply, cost: costOf(reply, this.prices) })),
    );
    const votes = {
      evalVotes: evals.map(([reply, decision]) => evalVote(reply, decision, questions.eval.version, this.prices)),
      hintVotes: hints.map(([reply, decision]) => hintVote(reply, decision, questions.hint.version, this.prices)),
    };
    for (const vote of votes.evalVotes) this.metrics.voted('eval', vote);
    for (const vote of votes.hintVotes) this.metrics.voted('hint', vote);
    return { votes, latencyMs };
  }

  private ask(question: Question, votes: number): Promise<Read[]> {
    const { kind } = question;
    const vote = (_: unknown, ordinal: number): Promise<Read> => {
      const attributes = { 'hindcast.vote.kind': kind, 'hindcast.vote.ordinal': ordinal };
      return inSpan('vote', { attributes }, async (span) => {
        const reply = await this.client.ask(question);
        const decision = readDecision(kind, reply);
        this.structured.saw(reply, decision);
        span.set(voted(reply, decision));
        return [reply, decision];
      });
    };
    return Promise.all(Array.from({ length: votes }, vote));
  }

  /** What is no feedback will not become one: it counts as none, here as in the dispatcher. */
  private async feedbackOn(turnId: string): Promise<Feedback | null> {
    const entry = await this.feedbackEntry(turnId);
    if (entry?.operation !== 'PUT') return null;
    const parsed = readNewer(Feedback, jsonOf(entry));
    if (!parsed.success) this.log.error('feedback.malformed', { turnId });
    return parsed.data ?? null;
  }

  private async feedbackEntry(turnId: string): Promise<KvEntry | null> {
    try {
      const bucket = await (this.feedback ??= this.buckets.open('feedback'));
      return await bucket.get(turnId);
    } catch (cause) {
      this.feedback = null;
      throw new DependencyUnavailable('nats', 'the feedback bucket cannot be read', 1_000, { cause });
    }
  }
}

const voted = (reply: Reply, { score }: Decision): SpanAttributes => ({
  'hindcast.vote.score': score,
  'hindcast.vote.abstained': reply.failed ?? (score === null ? 'unreadable' : null),
  'hindcast.vote.calls': reply.calls,
  'gen_ai.usage.input_tokens': reply.promptTokens,
  'gen_ai.usage.output_tokens': reply.completionTokens,
});

function jsonOf(entry: KvEntry): unknown {
  try {
    return entry.json();
  } catch {
    return undefined;
  }
}

/** 64 random bits, hex. From a UUID, whose randomness Node draws in advance, and without the digits that are the same in each. */
function randomMark(): string {
  const uuid = randomUUID();
  return uuid.slice(0, 8) + uuid.slice(-8);
}
