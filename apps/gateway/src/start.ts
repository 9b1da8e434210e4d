import { startService, type RunningService, type ServiceOptions } from '@hindcast/platform';
import { AppModule } from './app.module';
import type { GatewayConfig } from './config';
import { readLongRequest } from './long-request';

/** Starts the gateway. It serves from the first moment, with NATS or without. */
export function startGateway(
  config: GatewayConfig,
  options: Pick<ServiceOptions, 'announce' | 'shutdownMs'> = {},
): Promise<RunningService> {
  return startService({
    app: 'gateway',
    config,
    module: AppModule,
    waitForBus: false,
    bodyLimitBytes: config.MAX_BODY_BYTES,
    readLongBody: readLongRequest,
    ...options,
  });
}
