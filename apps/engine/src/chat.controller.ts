import { randomUUID } from 'node:crypto';
import { Body, Controller, HttpCode, Post, Res, UseFilters } from '@nestjs/common';
import { Log } from '@hindcast/platform';
import type { FastifyReply } from 'fastify';
import { parseChatRequest, renderConversation, type ChatRequest } from './core/chat-request';
import { chatCompletion, ChatChunks, type ChoiceStep, type ToolReading } from './core/chat-response';
import { tokenBudget } from './core/generation-fields';
import { toolDialectOf, type ToolDialect } from './core/tool-calls';
import { clientSignal, streamEvents } from './event-stream';
import { Generator, type ChoiceRequest } from './generator';
import { RequestErrorFilter } from './request-error.filter';
import { encodePrompt } from './prompt-encoding';
import { ServedModels } from './served-models';

@Controller('v1/chat/completions')
@UseFilters(RequestErrorFilter)
export class ChatController {
  /** How the served language calls tools; undefined until a request has tools. */
  private dialect: ToolDialect | null | undefined;

  constructor(
    private readonly models: ServedModels,
    private readonly generator: Generator,
    private readonly log: Log,
  ) {}

  @Post()
  @HttpCode(200)
  async complete(@Body() body: unknown, @Res() reply: FastifyReply): Promise<void> {
    const request = parseChatRequest(body);
    const { card } = this.models.find(request.model);
    const { config, template, text } = this.models.language;
    const prompt = renderConversation(template, request.conversation);
    const promptIds = encodePrompt(this.models.language, prompt, request.addSpecialTokens);
    const maxTokens = tokenBudget(promptIds.length, request.maxTokens, config.maxPositions);
    const signal = clientSignal(reply);
    const tools = this.toolReading(request);
    const choices = choiceRequests(request, promptIds, maxTokens, signal);
    const identity = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: card.id };
    if (!request.stream) {
      const done = await Promise.all(choices.map((choice) => this.generator.generate(choice)));
      await reply.send(chatCompletion(identity, request, text, promptIds, done, tools));
      return;
    }
    const chunks = new ChatChunks(identity, request, text, promptIds, tools);
    const { usage: wantsUsage } = request.stream;
    await streamEvents(reply, signal, this.log, async (stream) => {
      let completionTokens = 0;
      let opened = 0;
      const onStep = (step: ChoiceStep): void => {
        for (; opened < choices.length; opened++) stream.send(chunks.role(opened));
        stream.send(chunks.step(step, ++completionTokens));
      };
      await Promise.all(choices.map((choice) => this.generator.generate({ ...choice, onStep })));
      if (wantsUsage) stream.send(chunks.usage(completionTokens));
    });
  }

  private toolReading({ callsTools }: ChatRequest): ToolReading | null {
    if (!callsTools) return null;
    if (this.dialect === undefined) this.dialect = toolDialectOf(this.models.language.template);
    return this.dialect && { dialect: this.dialect, newCallId: () => `chatcmpl-tool-${randomUUID()}` };
  }
}

function choiceRequests(
  request: ChatRequest,
  promptIds: readonly number[],
  maxTokens: number,
  signal: AbortSignal,
): ChoiceRequest[] {
  return Array.from({ length: request.n }, (_, index) => ({
    model: request.model,
    promptIds,
    request,
    index,
    seedOffset: index,
    maxTokens,
    top: request.top ?? 0,
    promptTop: index === 0 ? request.promptTop : null,
    signal,
  }));
}
