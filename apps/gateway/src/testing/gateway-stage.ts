import { startNatsServer, type NatsServer } from '../../../../libs/platform/src/testing/nats-server';
import { connected } from './chat-request';
import { FakeEngine } from './fake-engine';
import { BusReader, eventually, startTestGateway, type RunningGateway } from './gateway-harness';

/** A gateway before a fake engine, connected to a NATS server that nobody else uses. */
export interface GatewayStage {
  readonly nats: NatsServer;
  readonly engine: FakeEngine;
  readonly gateway: RunningGateway;
  readonly bus: BusReader;
  stop(): Promise<void>;
}

/**
 * @param env of the gateway, besides where its engine and NATS are
 * @param dialect that the engine speaks and the gateway expects
 */
export async function startGatewayStage(
  env: Readonly<Record<string, string>> = {},
  dialect: 'vllm' | 'sglang' = 'vllm',
): Promise<GatewayStage> {
  const nats = await startNatsServer();
  const engine = await FakeEngine.start(dialect);
  const gateway = await startTestGateway({
    NATS_URL: nats.url,
    POLICY_BASE_URL: engine.url,
    POLICY_DIALECT: dialect,
    ...env,
  });
  const bus = await BusReader.connect(nats.url);
  await eventually(() => connected(gateway));
  return {
    nats,
    engine,
    gateway,
    bus,
    stop: async () => {
      await gateway.stop();
      await bus.close();
      await engine.stop();
      await nats.stop();
    },
  };
}
