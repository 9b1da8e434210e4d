import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { CONFIG, Log } from '@hindcast/platform';
import type { GatewayConfig } from './config';
import type { CompletedAnswer } from './core/answer';
import type { EndedTurn } from './core/answer-record';
import { isRefusal, refusal, type Refusal } from './core/refusal';
import { endedByModel } from './core/token-recovery';
import type { RecoveredAnswer } from './recovery';
import { RecoveryThread } from './recovery-thread';
import type { PromptRequest } from './served-model';

/**
 * Gives the answers of the `openai` dialect, whose servers send log-probs and bytes only, their ids: the sampled ones through the
 * vocabulary, the prompt's through the chat template, both checked against `usage`. Loads nothing for other dialects.
 */
@Injectable()
export class IdRecovery implements OnApplicationBootstrap, OnApplicationShutdown {
  private thread: RecoveryThread | null = null;
  private isStarting = false;
  private isStopping = false;

  constructor(
    @Inject(CONFIG) private readonly config: GatewayConfig,
    private readonly log: Log,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { POLICY_DIALECT, POLICY_TOKENIZER_DIR: dir } = this.config;
    if (POLICY_DIALECT !== 'openai') return;
    if (dir === undefined)
      return this.log.warn('recovery.off', {
        detail: 'POLICY_DIALECT=openai without POLICY_TOKENIZER_DIR: every turn is untrainable (no-token-ids)',
      });
    await this.start(dir);
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.thread?.stop();
  }

  /** The choices of one response with their ids, or with why they have none; those of another dialect as they are. */
  async withIds(turns: readonly EndedTurn[]): Promise<readonly EndedTurn[]> {
    const { thread } = this;
    if (!thread) this.startAgain();
    if (!thread || turns.every(({ answer, outcome }) => answer.responseIds || outcome !== 'complete')) return turns;
    const found = await Promise.all(turns.map((turn) => answerOf(thread, turn)));
    const counts = found.map((result) => (isRefusal(result) ? NaN : result.responseIds.length + result.hiddenTokens));
    const total = counts.reduce((sum, count) => sum + count, 0);
    const sampledIds = Number.isNaN(total) ? null : total;
    return turns.map((turn, i): EndedTurn => ({ ...turn, answer: withResult(turn.answer, found[i]!, sampledIds) }));
  }

  /** Text of each id, `null` where it is a piece of a character; `null` for all without a vocabulary. */
  texts(ids: readonly number[]): Promise<readonly (string | null)[] | null> {
    return this.thread?.texts(ids) ?? Promise.resolve(null);
  }

  /** It was there at the gateway's start, and ended. The answers until it is there again are untrainable. */
  private startAgain(): void {
    const { POLICY_DIALECT, POLICY_TOKENIZER_DIR: dir } = this.config;
    if (POLICY_DIALECT !== 'openai' || dir === undefined || this.isStarting || this.isStopping) return;
    void this.start(dir).catch((error: unknown) => this.log.error('recovery.failed', { error }));
  }

  private async start(dir: string): Promise<void> {
    this.isStarting = true;
    try {
      const { thread, tokens } = await RecoveryThread.start(dir, (error) => {
        this.thread = null;
        if (!this.isStopping) this.log.error('recovery.ended', { error });
      });
      this.thread = thread;
      this.log.info('recovery.ready', { tokens });
    } finally {
      this.isStarting = false;
    }
  }
}

function withResult(
  answer: CompletedAnswer,
  result: RecoveredAnswer | Refusal,
  sampledIds: number | null,
): CompletedAnswer {
  if (isRefusal(result)) return { ...answer, refusal: result };
  const { responseIds, promptIds } = result;
  return { ...answer, responseIds, promptIds, sampledIds };
}

function answerOf(thread: RecoveryThread, { context, answer }: EndedTurn): Promise<RecoveredAnswer | Refusal> {
  const { tokens, logProbs, message, usage, choices } = answer;
  const body = context.sentBody;
  if (!tokens?.length) return Promise.resolve(refusal('no-log-probs', 'the server gave no log-probs'));
  if (!usage) return Promise.resolve(refusal('no-prompt-ids', 'the server gave no usage to check against'));
  return thread.ask({
    tokens,
    logProbs,
    message,
    endedByModel: endedByModel(answer, body),
    countedTokens: choices === 1 ? usage.completionTokens : null,
    countedPromptTokens: usage.promptTokens,
    prompt: {
      messages: context.request.messages as PromptRequest['messages'],
      tools: Array.isArray(body['tools']) ? body['tools'] : null,
      templateArguments: (body['chat_template_kwargs'] as Record<string, unknown> | null | undefined) ?? {},
    },
  });
}
