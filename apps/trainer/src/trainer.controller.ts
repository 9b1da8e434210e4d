import { contracts, type MessageOf } from '@hindcast/contracts';
import { MessageContext, withLogContext } from '@hindcast/platform';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { HELD_SAMPLES } from './config';
import { Trainer } from './trainer';

/** A held message is delivered again at every restart, which says nothing against it. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

@Controller()
export class TrainerController {
  constructor(private readonly trainer: Trainer) {}

  /** Returns, and so acknowledges, once the sample is in a committed version or its refusal is announced. */
  @EventPattern(contracts.sampleReady.subject, { concurrency: HELD_SAMPLES, maxDeliveries: UNLIMITED, waits: true })
  async onSampleReady(
    @Payload() { turnId, tenant, body }: MessageOf<'sampleReady'>,
    @Ctx() context: MessageContext,
  ): Promise<void> {
    await withLogContext({ turnId: turnId!, sessionId: body.sessionId }, () =>
      this.trainer.train(turnId!, tenant, body, context),
    );
  }
}
