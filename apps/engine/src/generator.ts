import { randomInt } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { mulberry32 } from '@hindcast/language-model';
import { CONFIG } from '@hindcast/platform';
import type { EngineConfig } from './config';
import { Answer, type Finish } from './core/answer';
import type { Choice, ChoiceStep } from './core/chat-response';
import { drawer } from './core/draw';
import type { GenerationRequest, SamplingRequest } from './core/generation-fields';
import type { TokenScore } from './core/token-score';
import { EngineMetrics } from './engine-metrics';
import { Scheduler } from './scheduler';
import { ServedModels } from './served-models';

/** One choice to generate. */
export interface ChoiceRequest {
  readonly model: string | null;
  readonly promptIds: readonly number[];
  readonly request: GenerationRequest;
  /** Position among the response's choices; added to the seed, so that the choices of one request differ. */
  readonly index: number;
  readonly seedOffset: number;
  /** Tokens to generate; 0 only reads the prompt. */
  readonly maxTokens: number;
  /** Most likely tokens with each generated one. */
  readonly top: number;
  /** Most likely tokens with each prompt token; null: the prompt is not scored. */
  readonly promptTop: number | null;
  readonly onStep?: (step: ChoiceStep) => void;
  /** Ends the generation; the promise then rejects. */
  readonly signal: AbortSignal;
}

/** Generates answers: sampling, stopping and counting around the scheduler. */
@Injectable()
export class Generator {
  private readonly scheduler: Scheduler;

  constructor(
    @Inject(CONFIG) config: EngineConfig,
    private readonly models: ServedModels,
    private readonly metrics: EngineMetrics,
  ) {
    this.scheduler = new Scheduler(config.MAX_BATCH);
    metrics.observeScheduler(this.scheduler);
  }

  async generate(choice: ChoiceRequest): Promise<Choice> {
    const { request, promptIds, maxTokens, index } = choice;
    const { config, text } = this.models.language;
    const { weights } = this.models.find(choice.model);
    const answer = new Answer(text, {
      maxTokens,
      stop: request.stop,
      stopTokenIds: request.stopTokenIds,
      endTokenIds: request.ignoreEos ? [] : config.eosTokenIds,
      keepStop: request.keepStop,
      skipSpecialTokens: request.skipSpecialTokens,
    });
    const scores: TokenScore[] = [];
    const pieces: string[] = [];
    let finish: Finish = { reason: 'length', stopReason: null };
    choice.signal.throwIfAborted();
    const release = weights.take();
    const timing = this.metrics.startRequest(promptIds.length);
    try {
      const promptScores = await new Promise<readonly TokenScore[] | null>((resolve, reject) => {
        const cancel = this.scheduler.submit({
          weights: weights.forward,
          promptIds,
          promptTop: choice.promptTop,
          top: choice.top,
          maxTokens,
          sample: samplerOf(request.sampling, choice.seedOffset),
          onToken: (score) => {
            timing.token();
            scores.push(score);
            const step = answer.push(score.id);
            pieces.push(step.text);
            finish = step.finish ?? finish;
            choice.onStep?.({ index, id: score.id, text: step.text, score, finish: step.finish });
            return step.finish !== null;
          },
          onDone: resolve,
          onError: reject,
        });
        choice.signal.addEventListener('abort', cancel, { once: true });
      });
      choice.signal.throwIfAborted();
      timing.finish(finish.reason);
      return { text: pieces.join(''), ids: answer.ids, scores, finish, promptScores };
    } finally {
      release();
    }
  }
}

/** mulberry32 from the request's seed, one number per token: an answer can be drawn again elsewhere. */
function samplerOf(sampling: SamplingRequest, seedOffset: number): (logProbs: Float32Array) => number {
  return drawer(sampling, mulberry32(sampling.seed === null ? randomInt(2 ** 32) : sampling.seed + seedOffset));
}
