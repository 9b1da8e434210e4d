import { contracts, type MessageOf } from '@hindcast/contracts';
import { Bus, Log, inSpan } from '@hindcast/platform';
import { Controller, type Type } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';
import { Judge } from './judge';

/**
 * The controller that takes paired turns, at most `concurrency` at once: the number is part of a decorator, and comes from the
 * configuration.
 */
export function judgeController(concurrency: number): Type<unknown> {
  @Controller()
  class JudgeController {
    constructor(
      private readonly judge: Judge,
      private readonly bus: Bus,
      private readonly log: Log,
    ) {}

    @EventPattern(contracts.turnPaired.subject, { concurrency })
    async onTurnPaired(@Payload() { turnId, tenant, body: turn }: MessageOf<'turnPaired'>): Promise<void> {
      const attributes = { 'hindcast.turn.id': turnId, 'hindcast.policy.version': turn.policyVersion };
      const body = await inSpan('judge', { attributes }, async (span) => {
        const judged = await this.judge.judge(turnId!, turn);
        span.set({ 'hindcast.eval.score': judged.evalScore, 'hindcast.hinted': judged.hint !== null });
        return judged;
      });
      if (body.hint === null) await this.bus.publish('turnUnhinted', { turnId, tenant, body });
      else await this.bus.publish('turnHinted', { turnId, tenant, body });
      const { sessionId, policyVersion, evalScore: score, latencyMs } = body;
      this.log.info('turn.judged', { turnId, sessionId, policyVersion, score, hinted: body.hint !== null, latencyMs });
    }
  }
  return JudgeController;
}
