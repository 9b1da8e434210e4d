import { Controller, Module, type Type } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { contracts, type MessageOf } from '@hindcast/contracts';
import { startService, type RunningService, type ServiceOptions } from '../bootstrap';
import { CommonConfig, parseConfig } from '../config';
import type { HandlerExtras } from '../jetstream.strategy';
import { MessageContext } from '../message-context';

export type SampleHandler = (message: MessageOf<'sampleReady'>, context: MessageContext) => Promise<void>;

/** A module with the one handler of the app `trainer`. */
export function trainerModule(handle: SampleHandler, extras: HandlerExtras = {}): Type<unknown> {
  @Controller()
  class TrainerController {
    @EventPattern(contracts.sampleReady.subject, extras)
    onSampleReady(@Payload() message: MessageOf<'sampleReady'>, @Ctx() context: MessageContext): Promise<void> {
      return handle(message, context);
    }
  }
  @Module({ controllers: [TrainerController] })
  class TrainerModule {}
  return TrainerModule;
}

/** Waits are short, so that a test sees in a second what takes a minute in production. */
export const SHORT_TIMING = { ackWaitMs: 1_000, retryBaseMs: 50, retryMaxMs: 200, waitMaxMs: 200 };

export function startTrainer(
  natsUrl: string,
  handle: SampleHandler,
  extras: HandlerExtras = {},
  options: Partial<ServiceOptions> & { env?: Record<string, string> } = {},
): Promise<RunningService> {
  const { env, ...rest } = options;
  return startService({
    app: 'trainer',
    config: parseConfig('trainer', CommonConfig, {
      NATS_URL: natsUrl,
      LOG_LEVEL: 'silent',
      MAX_DELIVERIES: '3',
      ...env,
    }),
    module: trainerModule(handle, extras),
    timing: SHORT_TIMING,
    announce: () => undefined,
    ...rest,
  });
}
