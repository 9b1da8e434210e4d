import { Inject, Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { contracts, type MessageOf } from '@hindcast/contracts';
import { CONFIG, Log, MessageContext } from '@hindcast/platform';
import type { DispatcherConfig } from './config';
import { consequenceOf, type Consequence } from './core/dead-letter';
import { deadLetterReason } from './core/turn';
import { Ledger } from './ledger';
import type { TurnChange } from './ledger-writer';

/** Messages that failed for good. None of them leaves a turn without an ending. */
@Controller()
export class DeadLettersController {
  constructor(
    @Inject(CONFIG) private readonly config: DispatcherConfig,
    private readonly ledger: Ledger,
    private readonly log: Log,
  ) {}

  @EventPattern(contracts.dead.subject)
  async onDead(@Payload() message: MessageOf<'dead'>, @Ctx() context: MessageContext): Promise<void> {
    const { subject, consumer, code, error, deliveries } = message.body;
    const consequence = consequenceOf(message.body, message.turnId);
    const turnId = consequence?.turnId ?? message.turnId;
    const { at, tenant } = message;
    const streamSequence = context.streamSequence;
    await this.ledger.store({
      deadLetters: [{ streamSequence, at, turnId, tenant, subject, consumer, code, error, deliveries }],
    });
    if (consequence) await this.ledger.record(this.changeOf(consequence, code));
    this.log.warn('dead-letter.recorded', { turnId, subject, code, consequence: consequence?.kind ?? null });
  }

  private changeOf({ turnId, tenant, kind }: Consequence, code: string): TurnChange {
    const reason = deadLetterReason(code);
    if (kind === 'failed') return { turnId, tenant, event: { kind: 'dead', code } };
    if (kind === 'refused') {
      const ended = [{ turnId, state: 'refused', refusedReason: reason } as const];
      return { turnId, tenant, event: { kind: 'refused', reason }, rows: { ended } };
    }
    const decisions = [{ turnId, case: 'drop', reason, method: this.config.METHOD } as const];
    return { turnId, tenant, event: { kind: 'decided', identity: null, case: 'drop', reason }, rows: { decisions } };
  }
}
