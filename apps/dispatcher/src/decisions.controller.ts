import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { contracts, type MessageOf } from '@hindcast/contracts';
import { MessageContext, crashPoint } from '@hindcast/platform';
import { Dispatch } from './dispatch';
import { Outbox } from './outbox';
import { Tally } from './tally';

/** Judged turns: those without a hint come from the judge, those with one from the teacher. Each is decided once. */
@Controller()
export class DecisionsController {
  constructor(
    private readonly dispatch: Dispatch,
    private readonly outbox: Outbox,
    private readonly tally: Tally,
  ) {}

  @EventPattern(contracts.turnUnhinted.subject, { concurrency: 16 })
  async onUnhinted(@Payload() message: MessageOf<'turnUnhinted'>, @Ctx() context: MessageContext): Promise<void> {
    await this.decide(message, context);
  }

  @EventPattern(contracts.turnScored.subject, { concurrency: 16 })
  async onScored(@Payload() message: MessageOf<'turnScored'>, @Ctx() context: MessageContext): Promise<void> {
    await this.decide(message, context);
  }

  private async decide(
    { turnId, tenant, body }: MessageOf<'turnUnhinted'> | MessageOf<'turnScored'>,
    context: MessageContext,
  ): Promise<void> {
    const decision = await this.dispatch.decide(turnId as string, tenant, body);
    this.tally.received(context.subject, decision !== null);
    if (decision === null) return;
    crashPoint('after-commit');
    this.tally.decided(decision.case);
    if (decision.sample) this.outbox.wake();
  }
}
