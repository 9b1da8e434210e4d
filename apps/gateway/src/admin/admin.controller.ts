import { Controller, Get, Req, Res, UseGuards } from '@nestjs/common';
import type { Overview, ServiceReport } from '@hindcast/contracts';
import { release } from '@hindcast/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../core/api-keys';
import { KeyRing } from '../key-ring';
import { Admin, AdminGuard } from './admin.guard';
import { LiveFeed } from './live-feed';
import { OverviewBook } from './overview-book';
import { ServicesSurvey } from './services-survey';

/** Who is asking, how everything is, and what changes. */
@Controller('admin/v1')
@UseGuards(AdminGuard)
export class AdminController {
  private readonly release = release();

  constructor(
    private readonly ring: KeyRing,
    private readonly overview: OverviewBook,
    private readonly survey: ServicesSurvey,
    private readonly feed: LiveFeed,
    private readonly guard: AdminGuard,
  ) {}

  @Get('session')
  session(@Admin() { name }: Caller): { open: boolean; name: string; release: string } {
    return { open: this.ring.isOpen, name, release: this.release };
  }

  @Get('overview')
  look(): Promise<Overview> {
    return this.overview.look();
  }

  @Get('settings')
  async settings(): Promise<{ services: readonly ServiceReport[] }> {
    return { services: await this.survey.reports(0) };
  }

  @Get('events')
  events(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    if (request.method === 'HEAD') return void reply.type('text/event-stream').send();
    reply.hijack();
    this.feed.listen(reply.raw, () => this.guard.mayStill(request));
  }
}
