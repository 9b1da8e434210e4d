import { BadRequestException, Body, Controller, HttpCode, Post, UseGuards } from '@nestjs/common';
import { openAiError } from '@hindcast/platform';
import { ApiKeyGuard, Tenant } from './api-key.guard';
import { checkFeedback } from './core/feedback-request';
import { FeedbackBook, type FeedbackReply } from './feedback-book';

@Controller('v1/feedback')
@UseGuards(ApiKeyGuard)
export class FeedbackController {
  constructor(private readonly book: FeedbackBook) {}

  @Post()
  @HttpCode(200)
  async give(@Tenant() tenant: string, @Body() body: unknown): Promise<FeedbackReply> {
    const checked = checkFeedback(body);
    if (!checked.ok) throw new BadRequestException(openAiError(400, 'invalid-request', checked.message, checked.param));
    return this.book.give(tenant, checked.request);
  }
}
