import { HindcastError } from '@hindcast/contracts';
import { CONFIG } from '@hindcast/platform';
import { Body, Controller, Get, HttpCode, Inject, Post } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { DemoJudgeConfig } from './config';
import { readRequest } from './core/read-request';
import { noises, replyText, verdict } from './core/verdict';

const Request = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })).min(1),
  stream: z.literal(false).optional(),
});

/** Name under which the rule-based judge answers; it says what it is. */
const MODEL = 'demo-judge';

/** An OpenAI-compatible endpoint in front of a rule-based judge for the seed model's world. It understands nothing else. */
@Controller('v1')
export class ChatController {
  constructor(@Inject(CONFIG) private readonly config: DemoJudgeConfig) {}

  @Get('models')
  models(): object {
    return {
      object: 'list',
      data: [{ id: MODEL, object: 'model', created: 0, owned_by: 'hindcast (rule-based, demo only)' }],
    };
  }

  @Post('chat/completions')
  @HttpCode(200)
  complete(@Body() body: unknown): object {
    const parsed = Request.safeParse(body);
    if (!parsed.success) throw new HindcastError('invalid-request', z.prettifyError(parsed.error));
    const { messages } = parsed.data;
    const text = (role: string): string =>
      messages
        .filter((message) => message.role === role)
        .map((message) => message.content)
        .join('\n');
    const request = readRequest(text('system'), text('user'));
    // A prompt that is no judge prompt gets an unreadable vote, as from any model that does not understand the task.
    const content = request
      ? replyText(request, verdict(request, noises[this.config.DEMO_JUDGE_NOISE], this.config.DEMO_JUDGE_SEED))
      : 'This is a rule-based demo judge; it can only read judge prompts.';
    const promptTokens = wordsOf(messages.map((message) => message.content).join(' '));
    const completionTokens = wordsOf(content);
    return {
      id: `chatcmpl-${randomUUID()}`,
      object: 'chat.completion',
      created: Math.floor(Date.now() / 1000),
      model: MODEL,
      choices: [{ index: 0, message: { role: 'assistant', content }, logprobs: null, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: promptTokens,
        completion_tokens: completionTokens,
        total_tokens: promptTokens + completionTokens,
      },
    };
  }
}

/** The judge has no tokenizer; words stand for tokens in its usage. */
const wordsOf = (text: string): number => text.split(/\s+/).filter(Boolean).length;
