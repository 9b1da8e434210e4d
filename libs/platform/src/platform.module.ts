import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { brokerOf } from './broker';
import { Buckets } from './buckets';
import { Bus } from './bus';
import type { CommonConfig } from './config';
import { Health } from './health';
import { Log } from './log';
import { Metrics } from './metrics';
import { Nats } from './nats';
import { OpenRequests } from './open-requests';
import { OperationsController } from './operations.controller';

/** Injection token of the app's parsed config: `@Inject(CONFIG) config: GatewayConfig`. */
export const CONFIG: unique symbol = Symbol('CONFIG');

/** The providers that every service shares. Global: apps inject them by class and import nothing. */
@Module({})
export class PlatformModule {
  static forApp(app: string, config: CommonConfig): DynamicModule {
    const providers: Provider[] = [
      { provide: CONFIG, useValue: config },
      { provide: Log, useFactory: () => new Log(app, config.LOG_LEVEL) },
      { provide: Metrics, useFactory: () => new Metrics(app) },
      Health,
      OpenRequests,
      {
        provide: Nats,
        useFactory: (log: Log) => new Nats({ app, replicas: config.NATS_REPLICAS, ...brokerOf(config) }, log),
        inject: [Log],
      },
      { provide: Bus, useFactory: (nats: Nats, log: Log) => new Bus(app, nats, log), inject: [Nats, Log] },
      { provide: Buckets, useFactory: (nats: Nats) => new Buckets(nats, config.NATS_REPLICAS), inject: [Nats] },
    ];
    return {
      module: PlatformModule,
      global: true,
      providers,
      exports: providers,
      controllers: [OperationsController],
    };
  }
}
