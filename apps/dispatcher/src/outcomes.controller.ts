import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { contracts, type MessageOf } from '@hindcast/contracts';
import { Log, MessageContext } from '@hindcast/platform';
import { SessionOutcomes } from './session-outcomes';
import { Tally } from './tally';

/** How a session ended, as its environment says. */
@Controller()
export class OutcomesController {
  constructor(
    private readonly outcomes: SessionOutcomes,
    private readonly tally: Tally,
    private readonly log: Log,
  ) {}

  @EventPattern(contracts.sessionOutcome.subject)
  async onOutcome(
    @Payload() { tenant, at, body }: MessageOf<'sessionOutcome'>,
    @Ctx() { streamSequence: sequence }: MessageContext,
  ): Promise<void> {
    const { sessionId, reward, comment } = body;
    const order = await this.outcomes.outcome(tenant, sessionId, { reward, comment, at: new Date(at), sequence });
    this.tally.outcome(order);
    if (order === 'earlier') this.log.warn('outcome.earlier', { sessionId, reward });
    if (order === 'late') this.log.warn('outcome.late', { sessionId, reward });
  }
}
