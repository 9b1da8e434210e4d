import { contracts, type MessageOf } from '@hindcast/contracts';
import { Bus, Log, withLogContext } from '@hindcast/platform';
import { Controller } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';
import { Teacher } from './teacher';

@Controller()
export class TeacherController {
  constructor(
    private readonly teacher: Teacher,
    private readonly bus: Bus,
    private readonly log: Log,
  ) {}

  @EventPattern(contracts.turnHinted.subject, { concurrency: 64 })
  async onTurnHinted(@Payload() { turnId, tenant, body: turn }: MessageOf<'turnHinted'>): Promise<void> {
    await withLogContext(
      { turnId: turnId!, sessionId: turn.sessionId, policyVersion: turn.policyVersion },
      async () => {
        const teacher = await this.teacher.score(turnId!, turn.hint);
        await this.bus.publish('turnScored', { turnId, tenant, body: { ...turn, teacher } });
        this.log.info(
          'turn.scored',
          teacher.ok ? { ok: true } : { ok: false, reason: teacher.reason, detail: teacher.detail },
        );
      },
    );
  }
}
