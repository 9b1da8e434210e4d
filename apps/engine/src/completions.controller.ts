import { randomUUID } from 'node:crypto';
import { Body, Controller, HttpCode, Post, Res, UseFilters } from '@nestjs/common';
import { Log } from '@hindcast/platform';
import type { FastifyReply } from 'fastify';
import { parseCompletionRequest, type CompletionRequest } from './core/completion-request';
import { completion, CompletionChunks, type ReadPrompt } from './core/completion-response';
import { check, tokenBudget } from './core/generation-fields';
import { clientSignal, streamEvents } from './event-stream';
import { Generator, type ChoiceRequest } from './generator';
import { RequestErrorFilter } from './request-error.filter';
import { encodePrompt } from './prompt-encoding';
import { ServedModels } from './served-models';

@Controller('v1/completions')
@UseFilters(RequestErrorFilter)
export class CompletionsController {
  constructor(
    private readonly models: ServedModels,
    private readonly generator: Generator,
    private readonly log: Log,
  ) {}

  @Post()
  @HttpCode(200)
  async complete(@Body() body: unknown, @Res() reply: FastifyReply): Promise<void> {
    const request = parseCompletionRequest(body);
    const { card } = this.models.find(request.model);
    const { text } = this.models.language;
    const prompts = request.prompts.map((prompt) => this.readPrompt(prompt, request));
    const signal = clientSignal(reply);
    const choices = prompts.flatMap((prompt, i) => choiceRequests(request, prompt, i * request.n, signal));
    const identity = { id: `cmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: card.id };
    if (!request.stream) {
      const done = await Promise.all(choices.map((choice) => this.generator.generate(choice)));
      await reply.send(completion(identity, request, text, prompts, done));
      return;
    }
    const chunks = new CompletionChunks(identity, request, text, prompts);
    const { usage: wantsUsage } = request.stream;
    await streamEvents(reply, signal, this.log, async (stream) => {
      let completionTokens = 0;
      await Promise.all(
        choices.map(async (choice) => {
          const { ids } = await this.generator.generate({
            ...choice,
            onStep: (step) => stream.send(chunks.step(step)),
          });
          completionTokens += ids.length;
          if (ids.length === 0) stream.send(chunks.empty(choice.index));
        }),
      );
      if (wantsUsage) stream.send(chunks.usage(completionTokens));
    });
  }

  private readPrompt(prompt: string | readonly number[], request: CompletionRequest): ReadPrompt {
    const { language } = this.models;
    const { config } = language;
    let read: ReadPrompt;
    if (typeof prompt === 'string') {
      read = { ids: encodePrompt(language, prompt, request.addSpecialTokens), text: prompt };
    } else {
      const foreign = prompt.find((id) => id < 0 || id >= config.vocabSize);
      check(foreign === undefined, 'prompt', `Token id ${foreign} is out of vocabulary`);
      read = { ids: prompt, text: request.echo ? this.textOf(prompt) : '' };
    }
    tokenBudget(read.ids.length, request.maxTokens, config.maxPositions);
    return read;
  }

  private textOf(ids: readonly number[]): string {
    const { text } = this.models.language;
    return Buffer.concat(ids.map((id) => text.tokenBytes(id))).toString('utf8');
  }
}

function choiceRequests(
  request: CompletionRequest,
  prompt: ReadPrompt,
  firstIndex: number,
  signal: AbortSignal,
): ChoiceRequest[] {
  const wantedTops = [request.promptTop, request.echoTop].filter((top) => top !== null);
  return Array.from({ length: request.n }, (_, i) => ({
    model: request.model,
    promptIds: prompt.ids,
    request,
    index: firstIndex + i,
    seedOffset: i,
    maxTokens: request.maxTokens,
    top: request.top ?? 0,
    promptTop: i === 0 && wantedTops.length > 0 ? Math.max(...wantedTops) : null,
    signal,
  }));
}
