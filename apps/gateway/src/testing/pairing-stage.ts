import { answerOf } from './fake-engine';
import { eventually, startTestGateway, userSays, type RunningGateway } from './gateway-harness';
import { connected } from './chat-request';
import { startGatewayStage, type GatewayStage } from './gateway-stage';

/** Two gateways of one engine: `other` serves no unknown model, samples at 1, and takes a request for a side one. */
export interface PairingStage extends GatewayStage {
  readonly other: RunningGateway;
  /** Asks, and takes the whole answer. @returns the turn's id, empty where it was not captured */
  ask(this: void, messages: object[], headers?: Record<string, string>, to?: RunningGateway): Promise<string>;
}

export async function startPairingStage(): Promise<PairingStage> {
  const stage = await startGatewayStage();
  const other = await startTestGateway({
    NATS_URL: stage.nats.url,
    POLICY_BASE_URL: stage.engine.url,
    STRICT_MODEL: '1',
    SAMPLING: 'force',
    DEFAULT_TURN_TYPE: 'side',
  });
  await eventually(() => connected(other));
  return {
    ...stage,
    other,
    ask: async (messages, headers = {}, to = stage.gateway) => {
      const response = await to.chat({ messages }, headers);
      expect(response.status).toBe(200);
      await response.text();
      return response.headers.get('x-hindcast-turn-id') ?? '';
    },
    stop: async () => {
      await other.stop();
      await stage.stop();
    },
  };
}

/** Before each test: an engine of the base model that says hello. */
export function resetEngine({ engine }: GatewayStage): void {
  engine.calls.length = 0;
  engine.models = [{ id: 'seed' }];
  engine.script = (call) => engine.answer(call, answerOf('Hello'));
}

/** The conversation of a question that was answered with hello, and what the user said then. */
export const continued = (question: string, next = 'next'): object[] => userSays(question, 'Hello', next);
