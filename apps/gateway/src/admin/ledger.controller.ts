import { Body, Controller, Get, HttpCode, Param, Post, Query, UseGuards } from '@nestjs/common';
import {
  HindcastError,
  type CurrentPolicy,
  type DeadLetterOutcome,
  type DeadLetterRow,
  type DeadLettersPage,
  type JudgeStatistics,
  type StepsPage,
  type VersionsPage,
} from '@hindcast/contracts';
import { Bus } from '@hindcast/platform';
import {
  deadLettersQuery,
  discardBody,
  judgeQuery,
  letterOf,
  replayBody,
  rollbackBody,
  stepsQuery,
  versionsQuery,
} from '../core/admin/parameters';
import { PolicyWatch } from '../policy-watch';
import { AdminGuard } from './admin.guard';
import { RollbackBook, type Rollback } from './rollback-book';
import { valid } from './valid';

/** Steps, versions, the judge's work and dead letters, of all tenants. */
@Controller('admin/v1')
@UseGuards(AdminGuard)
export class LedgerController {
  constructor(
    private readonly bus: Bus,
    private readonly policy: PolicyWatch,
    private readonly rollbacks: RollbackBook,
  ) {}

  @Get('steps')
  steps(@Query() query: unknown): Promise<StepsPage> {
    return this.bus.request('steps', valid(stepsQuery(query)));
  }

  @Get('policies')
  async policies(
    @Query() query: unknown,
  ): Promise<VersionsPage & { current: CurrentPolicy; rollback: Rollback | null; kept: number[] | null }> {
    const [page, current, rollback, trainer] = await Promise.all([
      this.bus.request('versions', valid(versionsQuery(query))),
      this.policy.known(),
      this.rollbacks.last(),
      this.policy.trainerSettings().catch(() => null),
    ]);
    return { ...page, current, rollback, kept: trainer?.kept ?? null };
  }

  /** What becomes of it stands in `GET policies`. */
  @Post('policies/rollback')
  @HttpCode(202)
  async rollBack(@Body() body: unknown): Promise<{ id: string }> {
    const { version, reason } = valid(rollbackBody(body));
    return { id: await this.rollbacks.wish(version, reason) };
  }

  @Get('judge')
  judge(@Query() query: unknown): Promise<JudgeStatistics> {
    return this.bus.request('judge', valid(judgeQuery(query)));
  }

  @Get('dead-letters')
  deadLetters(@Query() query: unknown): Promise<DeadLettersPage> {
    return this.bus.request('deadLetters', valid(deadLettersQuery(query)));
  }

  @Get('dead-letters/:sequence/:at')
  async deadLetter(@Param() path: unknown): Promise<{ letter: DeadLetterRow; message: string | null }> {
    const answer = await this.bus.request('deadLetter', { ...letter(path), tenant: null });
    if (!answer.found) throw letterNotFound();
    return { letter: answer.letter, message: answer.message };
  }

  @Post('dead-letters/:sequence/:at/replay')
  @HttpCode(200)
  replay(@Param() path: unknown, @Body() body: unknown): Promise<DeadLetterOutcome> {
    const { force } = valid(replayBody(body));
    return this.bus.request('replayDeadLetter', { ...letter(path), tenant: null, force });
  }

  @Post('dead-letters/:sequence/:at/discard')
  @HttpCode(200)
  discard(@Param() path: unknown, @Body() body: unknown): Promise<DeadLetterOutcome> {
    valid(discardBody(body));
    return this.bus.request('discardDeadLetter', { ...letter(path), tenant: null });
  }
}

function letter(path: unknown): { sequence: number; at: number } {
  const id = letterOf(path);
  if (!id) throw letterNotFound();
  return id;
}

const letterNotFound = (): HindcastError => new HindcastError('dead-letter-not-found', 'there is no such dead letter');
