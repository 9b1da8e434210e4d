import type { EngineCall, FakeEngine } from './fake-engine';
import { startTestGateway, type RunningGateway } from './gateway-harness';
import { startGatewayStage, type GatewayStage } from './gateway-stage';
import { bearer, keyOf } from './keys';

const KEY = 'sk-documented';
const API_KEYS = keyOf('documented', KEY);

export const withKey = bearer(KEY);
export const chat = { messages: [{ role: 'user', content: 'Hi' }] };
/** A NATS server that is not there. */
export const AWAY = 'nats://127.0.0.1:1';

/** A gateway for what goes well, and three for what goes wrong. */
export interface DocumentedGateways extends GatewayStage {
  /** Gives engines no time. */
  readonly impatient: RunningGateway;
  /** Has given its engine up. */
  readonly away: RunningGateway;
  /** Has let the key ask once, and no more in this minute. */
  readonly exhausted: RunningGateway;
}

/** A gateway without NATS that takes the same key. */
export const startBesides = (engine: FakeEngine, env: Record<string, string>): Promise<RunningGateway> =>
  startTestGateway({ NATS_URL: AWAY, POLICY_BASE_URL: engine.url, POLICY_RETRIES: '0', API_KEYS, ...env });

export async function startDocumentedGateways(): Promise<DocumentedGateways> {
  const stage = await startGatewayStage({
    POLICY_RETRIES: '0',
    POLICY_BREAKER_FAILURES: '0',
    STRICT_MODEL: '1',
    MAX_BODY_BYTES: '20000',
    API_KEYS,
    KEY_REQUESTS_PER_MINUTE: '100000',
    KEY_TOKENS_PER_MINUTE: '100000000',
  });
  const { engine } = stage;
  const [impatient, away, exhausted] = await Promise.all([
    startBesides(engine, { POLICY_TIMEOUT_MS: '50', POLICY_BREAKER_FAILURES: '0' }),
    startBesides(engine, {
      POLICY_BREAKER_FAILURES: '1',
      POLICY_BREAKER_PAUSE_MS: '600000',
      POLICY_HEALTH_MS: '600000',
    }),
    startBesides(engine, { KEY_REQUESTS_PER_MINUTE: '1' }),
  ]);
  engine.script = failuresOf(engine)[0]!;
  await away.chat(chat, withKey);
  await exhausted.chat(chat, withKey);
  return {
    ...stage,
    impatient,
    away,
    exhausted,
    stop: async () => {
      await Promise.all([impatient, away, exhausted].map((each) => each.stop()));
      await stage.stop();
    },
  };
}

/** What an engine may do instead of an answer. */
export const failuresOf = (engine: FakeEngine): readonly ((call: EngineCall) => void)[] => [
  ({ response }) => void response.destroy(),
  ({ response }) => void response.writeHead(500).end('a trace'),
  ({ response }) => void response.writeHead(302, { location: '/' }).end(),
  (call) => engine.refuse(call, 401, 'no such key'),
];
