import type { BodyOf } from '@hindcast/contracts';
import { CONFIG } from '@hindcast/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { JudgeConfig } from './config';
import { evalPrompt, hintPrompt, type JudgePrompt } from './core/prompts';
import { current } from './core/prompts/published';
import { inJson, questionFrame } from './core/question';
import type { VoteKind } from './core/vote';

interface Frame {
  readonly before: Buffer;
  readonly after: Buffer;
}
interface Frames {
  readonly structured: Frame;
  readonly plain: Frame;
}

/** Asks about turns. What all questions of a kind have in common is written once for all, what those on a turn have once for the turn. */
@Injectable()
export class Questions {
  private readonly frames: Readonly<Record<VoteKind, Frames>>;

  constructor(@Inject(CONFIG) private readonly config: JudgeConfig) {
    const { JUDGE_MODEL: model, JUDGE_TEMPERATURE: temperature, JUDGE_MAX_TOKENS: maxTokens } = config;
    const frame = (kind: VoteKind, structured: boolean): Frame => {
      const { before, after } = questionFrame(kind, current[kind], { model, temperature, maxTokens }, structured);
      return { before: Buffer.from(before), after: Buffer.from(after) };
    };
    const framesOf = (kind: VoteKind): Frames => ({ structured: frame(kind, true), plain: frame(kind, false) });
    this.frames = { eval: framesOf('eval'), hint: framesOf('hint') };
  }

  /** @param mark random, at least 64 bits, hex; not known to whoever wrote the turn's texts */
  about(turn: BodyOf<'turnPaired'>, mark: string): Readonly<Record<VoteKind, Question>> {
    const prompts = {
      eval: evalPrompt(turn, mark, this.config.JUDGE_CONTEXT_TOKENS),
      hint: hintPrompt(turn, mark, this.config.JUDGE_CONTEXT_TOKENS),
    };
    // Both kinds quote the same.
    const quotation = Buffer.from(inJson(prompts.eval.quotation));
    return {
      eval: new Question('eval', prompts.eval, quotation, this.frames.eval),
      hint: new Question('hint', prompts.hint, quotation, this.frames.hint),
    };
  }
}

/** One question to the judge. All votes of a kind on a turn ask the same, so its body is made once, in each form when first needed. */
export class Question {
  private readonly bodies: { structured?: Buffer; plain?: Buffer } = {};

  constructor(
    readonly kind: VoteKind,
    private readonly prompt: JudgePrompt,
    private readonly quotation: Buffer,
    private readonly frames: Frames,
  ) {}

  /** JSON, UTF-8. */
  body(structured: boolean): Buffer {
    const form = structured ? 'structured' : 'plain';
    const { before, after } = this.frames[form];
    return (this.bodies[form] ??= Buffer.concat([before, this.quotation, after]));
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
