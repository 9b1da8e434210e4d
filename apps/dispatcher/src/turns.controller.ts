import { Controller, Inject } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { contracts, type MessageOf } from '@hindcast/contracts';
import { CONFIG, MessageContext } from '@hindcast/platform';
import type { DispatcherConfig } from './config';
import { turnTexts } from './core/turn-texts';
import { Ledger } from './ledger';
import { Tally } from './tally';

/** What the gateway says of a turn: that it was captured, and how it ended its wait. */
@Controller()
export class TurnsController {
  constructor(
    @Inject(CONFIG) private readonly config: DispatcherConfig,
    private readonly ledger: Ledger,
    private readonly tally: Tally,
  ) {}

  @EventPattern(contracts.turnCaptured.subject, { concurrency: 64 })
  async onCaptured(@Payload() message: MessageOf<'turnCaptured'>, @Ctx() context: MessageContext): Promise<void> {
    const { responseId, sessionId, policyVersion, ...rest } = message.body;
    const identity = { responseId, sessionId, policyVersion };
    const isNews = await this.ledger.record({ ...turnOf(message), event: { kind: 'captured', identity, ...rest } });
    this.tally.received(context.subject, isNews);
  }

  @EventPattern(contracts.turnPaired.subject, { concurrency: 64 })
  async onPaired(@Payload() message: MessageOf<'turnPaired'>, @Ctx() context: MessageContext): Promise<void> {
    const { responseId, sessionId, policyVersion } = message.body;
    const identity = { responseId, sessionId, policyVersion };
    const turn = turnOf(message);
    const texts = this.config.RECORD_TURNS ? [{ turnId: turn.turnId, ...turnTexts(message.body) }] : [];
    const isNews = await this.ledger.record({ ...turn, event: { kind: 'paired', identity }, rows: { texts } });
    this.tally.received(context.subject, isNews);
  }

  @EventPattern(contracts.turnClosed.subject, { concurrency: 64 })
  async onClosed(@Payload() message: MessageOf<'turnClosed'>, @Ctx() context: MessageContext): Promise<void> {
    const { reason, detail } = message.body;
    const isNews = await this.ledger.record({ ...turnOf(message), event: { kind: 'closed', reason, detail } });
    this.tally.received(context.subject, isNews);
  }
}

/** The contract lets no such message lack its turn. */
const turnOf = ({ turnId, tenant, at }: { turnId: string | null; tenant: string; at: number }) => ({
  turnId: turnId as string,
  tenant,
  at: new Date(at),
});
