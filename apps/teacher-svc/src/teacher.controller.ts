import { contracts, type MessageOf } from '@hindcast/contracts';
import { Bus, Log } from '@hindcast/platform';
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
    const teacher = await this.teacher.score(turnId!, turn.hint);
    await this.bus.publishMade('turnScored', { turnId: turnId!, tenant, body: { ...turn, teacher } });
    const { sessionId, policyVersion } = turn;
    const outcome = teacher.ok ? { ok: true } : { ok: false, reason: teacher.reason, detail: teacher.detail };
    this.log.info('turn.scored', { turnId, sessionId, policyVersion, ...outcome });
  }
}
