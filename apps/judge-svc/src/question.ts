import type { JudgeConfig } from './config';
import { questionBody, type Prompt } from './core/question';
import type { VoteKind } from './core/vote';

/** One question to the judge. All votes of a kind on a turn ask the same, so its body is made once, in each form when first needed. */
export class Question {
  private readonly bodies = new Map<boolean, Buffer>();

  constructor(
    readonly kind: VoteKind,
    private readonly prompt: Prompt,
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

  /** Size of the prompt, characters. */
  get size(): number {
    return this.prompt.system.length + this.prompt.user.length;
  }
}
