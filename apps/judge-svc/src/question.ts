import type { JudgeConfig } from './config';
import type { JudgePrompt } from './core/prompts';
import { questionBody } from './core/question';
import type { VoteKind } from './core/vote';

/** One question to the judge. All votes of a kind on a turn ask the same, so its body is made once, in each form when first needed. */
export class Question {
  private readonly bodies = new Map<boolean, Buffer>();

  constructor(
    readonly kind: VoteKind,
    private readonly prompt: JudgePrompt,
    private readonly config: JudgeConfig,
  ) {}

  /** JSON, UTF-8. */
  body(structured: boolean): Buffer {
    let body = this.bodies.get(structured);
    if (!body) {
      const { JUDGE_MODEL: model, JUDGE_TEMPERATURE: temperature, JUDGE_MAX_TOKENS: maxTokens } = this.config;
      body = Buffer.from(questionBody(this.kind, this.prompt, { model, temperature, maxTokens }, structured));
      this.bodies.set(structured, body);
    }
    return body;
  }

  /** Version of the prompt's wording. */
  get version(): string {
    return this.prompt.version;
  }

  /** Size of the prompt, characters. */
  get size(): number {
    return this.prompt.system.length + this.prompt.user.length;
  }
}
