import { BadRequestException, Body, Controller, Get, HttpCode, Param, Post, Query, UseGuards } from '@nestjs/common';
import { HindcastError, decodeIds, type ShownTurn, type TrainerSettings, type TurnsPage } from '@hindcast/contracts';
import { Bus, openAiError } from '@hindcast/platform';
import { expectedAdvantages } from '../core/admin/expected';
import { turnsQuery } from '../core/admin/parameters';
import { checkFeedback } from '../core/feedback-request';
import { FeedbackBook, type FeedbackReply } from '../feedback-book';
import { PolicyWatch } from '../policy-watch';
import { AdminGuard } from './admin.guard';
import { TokenTexts } from './token-texts';
import { TurnOwners } from './turn-owners';
import { valid } from './valid';

/** The turns of all tenants. */
@Controller('admin/v1/turns')
@UseGuards(AdminGuard)
export class TurnsController {
  constructor(
    private readonly bus: Bus,
    private readonly policy: PolicyWatch,
    private readonly tokenTexts: TokenTexts,
    private readonly owners: TurnOwners,
    private readonly feedback: FeedbackBook,
  ) {}

  @Get()
  list(@Query() query: unknown): Promise<TurnsPage> {
    return this.bus.request('turns', valid(turnsQuery(query)));
  }

  @Get(':id')
  async turn(@Param('id') id: string): Promise<ShownTurn> {
    const answer = await this.bus.request('turnDetail', { tenant: null, id });
    if (!answer.found) throw new HindcastError('turn-not-found', 'there is no such turn');
    const { detail } = answer;
    const [texts, trainer] = await Promise.all([
      detail.tokens && this.tokenTexts.of(decodeIds(detail.tokens.ids)),
      this.trainer(),
    ]);
    return { detail, texts, expected: expectedAdvantages(detail, trainer) };
  }

  @Post(':id/feedback')
  @HttpCode(200)
  async give(@Param('id') id: string, @Body() body: unknown): Promise<FeedbackReply> {
    const said = typeof body === 'object' && body !== null ? body : {};
    const checked = checkFeedback({ ...said, turn_id: id, response_id: undefined });
    if (!checked.ok) throw new BadRequestException(openAiError(400, 'invalid-request', checked.message, checked.param));
    return this.feedback.give(await this.owners.tenantOf(id), checked.request);
  }

  /** `null` as well where it cannot be read now. */
  private trainer(): Promise<TrainerSettings | null> {
    return this.policy.trainerSettings().catch(() => null);
  }
}
