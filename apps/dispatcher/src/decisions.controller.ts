import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { contracts, type MessageOf } from '@hindcast/contracts';
import { MessageContext } from '@hindcast/platform';
import { Dispatch } from './dispatch';
import { SessionOutcomes } from './session-outcomes';
import { Tally } from './tally';

/** Enough for many to share a commit; each holds a capture of up to 8 MiB in memory. */
const CONCURRENCY = 32;

/** Judged turns: those without a hint come from the judge, those with one from the teacher. Each is decided once. */
@Controller()
export class DecisionsController {
  constructor(
    private readonly dispatch: Dispatch,
    private readonly outcomes: SessionOutcomes,
    private readonly tally: Tally,
  ) {}

  @EventPattern(contracts.turnUnhinted.subject, { concurrency: CONCURRENCY })
  async onUnhinted(@Payload() message: MessageOf<'turnUnhinted'>, @Ctx() context: MessageContext): Promise<void> {
    await this.decide(message, context);
  }

  @EventPattern(contracts.turnScored.subject, { concurrency: CONCURRENCY })
  async onScored(@Payload() message: MessageOf<'turnScored'>, @Ctx() context: MessageContext): Promise<void> {
    await this.decide(message, context);
  }

  private async decide(
    { turnId, tenant, body }: MessageOf<'turnUnhinted'> | MessageOf<'turnScored'>,
    context: MessageContext,
  ): Promise<void> {
    const { sessionId } = body;
    // An outcome is of a session; a turn of none has nothing to wait for.
    const isNews =
      body.outcomePending && sessionId !== null
        ? await this.outcomes.hold(turnId as string, tenant, { ...body, sessionId })
        : (await this.dispatch.decide(turnId as string, tenant, body)) !== null;
    this.tally.received(context.subject, isNews);
  }
}
