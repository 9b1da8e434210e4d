import { Controller, Get, Param, UseGuards } from '@nestjs/common';
import { HindcastError, type LedgerStatus, type TurnStory } from '@hindcast/contracts';
import { Bus } from '@hindcast/platform';
import { ApiKeyGuard, Tenant } from './api-key.guard';
import { KeyRing } from './key-ring';
import { PolicyWatch } from './policy-watch';
import { RecentTurns } from './recent-turns';

/** What became of the turns; the ledger answers, 503 while it is away. */
@Controller('v1')
@UseGuards(ApiKeyGuard)
export class StatusController {
  constructor(
    private readonly ring: KeyRing,
    private readonly bus: Bus,
    private readonly policy: PolicyWatch,
    private readonly recent: RecentTurns,
  ) {}

  /** `batchSize` is `null` until a trainer has started. In open mode there is one reader, who sees the whole books. */
  @Get('status')
  async status(@Tenant() tenant: string): Promise<LedgerStatus & { batchSize: number | null }> {
    const status = await this.bus.request('status', { tenant: this.ring.isOpen ? null : tenant });
    const trainer = await this.policy.trainerSettings();
    return { ...status, batchSize: trainer?.batchSize ?? null };
  }

  @Get('turns/:id')
  async turn(@Tenant() tenant: string, @Param('id') id: string): Promise<TurnStory> {
    if (id.length > 200) throw new HindcastError('turn-not-found', 'there is no such turn');
    const answer = await this.bus.request('turn', { tenant, id });
    const story = answer.found ? answer.turn : this.recent.story(tenant, id);
    if (!story) throw new HindcastError('turn-not-found', 'there is no such turn');
    return story;
  }
}
