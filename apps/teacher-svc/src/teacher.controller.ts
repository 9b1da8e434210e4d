import { contracts, type MessageOf } from '@hindcast/contracts';
import { Bus, Log, inSpan } from '@hindcast/platform';
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
    const attributes = { 'hindcast.turn.id': turnId, 'hindcast.policy.version': turn.policyVersion };
    const teacher = await inSpan('score', { attributes }, async (span) => {
      const scored = await this.teacher.score(turnId!, turn.hint);
      span.set({ 'hindcast.teacher.model': scored.model, 'hindcast.reason': scored.ok ? null : scored.reason });
      return scored;
    });
    await this.bus.publishMade('turnScored', { turnId: turnId!, tenant, body: { ...turn, teacher } });
    const { sessionId, policyVersion } = turn;
    const outcome = teacher.ok ? { ok: true } : { ok: false, reason: teacher.reason, detail: teacher.detail };
    this.log.info('turn.scored', { turnId, sessionId, policyVersion, ...outcome });
  }
}
