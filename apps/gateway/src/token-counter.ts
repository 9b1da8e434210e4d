import { HttpException, Inject, Injectable } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { CONFIG } from '@hindcast/platform';
import type { StopSignal } from './abort';
import type { GatewayConfig } from './config';
import { engineErrorResponse } from './core/engine-error';
import { retryAfterHeader, withoutKey } from './core/engine-key';
import { readEngineBody } from './engine-body';
import { engineError } from './engine-client';
import { PolicyRouter } from './policy-router';

/** The engine's own error, and when it may be asked again. */
export class EngineRefusedCount extends HttpException {
  constructor(
    body: string,
    status: number,
    readonly retryAfter: string | null,
  ) {
    super(JSON.parse(body) as object, status);
  }
}

/** Asks an engine how long a conversation's prompt is. vLLM's `POST ROOT/tokenize` applies the chat template. */
@Injectable()
export class TokenCounter {
  constructor(
    @Inject(CONFIG) private readonly config: GatewayConfig,
    private readonly router: PolicyRouter,
  ) {}

  /**
   * @param prompt messages, tools and whatever else the chat template is given
   * @returns tokens
   * @throws HindcastError `not-supported` where engines cannot tell, `engine-…`, `model-not-found`
   * @throws EngineRefusedCount with the engine's own error
   */
  async count(
    model: string | null,
    prompt: object,
    headers: Readonly<Record<string, unknown>>,
    signal: StopSignal,
  ): Promise<number> {
    if (this.config.POLICY_DIALECT !== 'vllm')
      throw new HindcastError(
        'not-supported',
        'only engines of the vllm dialect can count the tokens of a conversation',
      );
    const { response, release } = await this.router.call(model, prompt, headers, signal, { path: '../tokenize' });
    try {
      const text = new TextDecoder().decode(await readEngineBody(response.body));
      if (response.statusCode !== 200) throw this.refusal(response.statusCode, text, response.headers['retry-after']);
      const count = (JSON.parse(text) as { count?: unknown } | null)?.count;
      if (!Number.isSafeInteger(count)) throw new HindcastError('engine-invalid-response', 'the engine gave no count');
      return count as number;
    } catch (error) {
      throw error instanceof HttpException ? error : engineError(error);
    } finally {
      release();
    }
  }

  private refusal(status: number, text: string, retryAfter: string | string[] | undefined): EngineRefusedCount {
    const refused = engineErrorResponse(status, withoutKey(text, this.config.POLICY_API_KEY));
    return new EngineRefusedCount(refused.body, refused.status, retryAfterHeader(retryAfter));
  }
}
