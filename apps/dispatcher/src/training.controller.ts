import { Controller, Inject } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { contracts, type MessageOf } from '@hindcast/contracts';
import { CONFIG, Log, MessageContext } from '@hindcast/platform';
import type { DispatcherConfig } from './config';
import { Ledger } from './ledger';
import { Tally } from './tally';
import { TrainedTokens } from './trained-tokens';

/** What became of a sample: trained in a version, or refused. */
@Controller()
export class TrainingController {
  constructor(
    @Inject(CONFIG) private readonly config: DispatcherConfig,
    private readonly ledger: Ledger,
    private readonly tokens: TrainedTokens,
    private readonly tally: Tally,
    private readonly log: Log,
  ) {}

  @EventPattern(contracts.sampleRefused.subject)
  async onRefused(@Payload() message: MessageOf<'sampleRefused'>, @Ctx() context: MessageContext): Promise<void> {
    const { tenant, body } = message;
    const turnId = message.turnId as string;
    const ended = [{ turnId, state: 'refused', refusedReason: body.reason, refusedDetail: body.detail } as const];
    const event = { kind: 'refused', reason: `refused:${body.reason}` } as const;
    this.tally.received(context.subject, await this.ledger.record({ turnId, tenant, event, rows: { ended } }));
  }

  /** Before or after the version that it was trained in. */
  @EventPattern(contracts.sampleTrained.subject, { concurrency: 64 })
  async onTrained(@Payload() message: MessageOf<'sampleTrained'>, @Ctx() context: MessageContext): Promise<void> {
    const { turnId, body } = message;
    const isNews = this.config.RECORD_TURNS && (await this.tokens.store(turnId as string, body));
    this.tally.received(context.subject, isNews);
  }

  @EventPattern(contracts.policyUpdated.subject, { concurrency: 1 })
  async onPolicyUpdated(@Payload() { body }: MessageOf<'policyUpdated'>): Promise<void> {
    const { version, parent, state, reason, turnIds, adapter, adapterDir, metrics } = body;
    const unknown = await this.ledger.recordStep({
      version,
      turnIds,
      rows: {
        steps: [{ version, parent, turnIds, metrics }],
        versions: [{ version, state, reason, adapter, adapterDir }],
        ended: turnIds.map((turnId) => ({ turnId, state: 'trained', trainedIn: version })),
      },
    });
    if (unknown.length > 0) this.log.error('step.unknown-turns', { version, turnIds: unknown });
    this.log.info('step.recorded', { version, state, turns: turnIds.length });
  }
}
