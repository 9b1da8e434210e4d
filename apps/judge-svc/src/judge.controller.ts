import { contracts, type MessageOf } from '@hindcast/contracts';
import { Bus, Log, withLogContext } from '@hindcast/platform';
import { Controller } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';
import { Judge } from './judge';

@Controller()
export class JudgeController {
  constructor(
    private readonly judge: Judge,
    private readonly bus: Bus,
    private readonly log: Log,
  ) {}

  @EventPattern(contracts.turnPaired.subject, { concurrency: 64 })
  async onTurnPaired(@Payload() { turnId, tenant, body: turn }: MessageOf<'turnPaired'>): Promise<void> {
    await withLogContext(
      { turnId: turnId!, sessionId: turn.sessionId, policyVersion: turn.policyVersion },
      async () => {
        const body = await this.judge.judge(turnId!, turn);
        if (body.hint === null) await this.bus.publish('turnUnhinted', { turnId, tenant, body });
        else await this.bus.publish('turnHinted', { turnId, tenant, body });
        this.log.info('turn.judged', { score: body.evalScore, hinted: body.hint !== null, latencyMs: body.latencyMs });
      },
    );
  }
}
