import { Body, Controller, HttpCode, Post, UseGuards } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { z } from 'zod';
import { ApiKeyGuard, Tenant } from './api-key.guard';
import { FeedbackRequest } from './core/feedback-request';
import { FeedbackBook } from './feedback-book';

@Controller('v1/feedback')
@UseGuards(ApiKeyGuard)
export class FeedbackController {
  constructor(private readonly book: FeedbackBook) {}

  @Post()
  @HttpCode(200)
  async give(
    @Tenant() tenant: string,
    @Body() body: unknown,
  ): Promise<{ turn_id: string; status: 'accepted' | 'late' }> {
    const parsed = FeedbackRequest.safeParse(body);
    if (!parsed.success) throw new HindcastError('invalid-request', z.prettifyError(parsed.error));
    return this.book.give(tenant, parsed.data);
  }
}
