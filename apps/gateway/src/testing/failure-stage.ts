import { answerOf } from './fake-engine';
import { eventually, userSays } from './gateway-harness';
import { startGatewayStage, type GatewayStage } from './gateway-stage';

/** For failures of the engine and of clients. */
export async function startFailureStage(): Promise<GatewayStage> {
  const stage = await startGatewayStage();
  const { gateway } = stage;
  return {
    ...stage,
    stop: async () => {
      // Every main answer that ended was written down or counted, those of clients that left a little later.
      const [ended, known] = await eventually(async () => {
        const [ended, stored, lost] = await gateway.metrics(
          'answers_ended_total',
          'turns_stored_total',
          'uncaptured_total',
        );
        return stored! + lost! >= ended! && [ended!, stored! + lost!];
      });
      expect(ended).toBeGreaterThan(0);
      expect(known).toBe(ended);
      await stage.stop();
    },
  };
}

/** Whatever happened: the next turn is served and captured. */
export async function nextTurnIsServed({ engine, gateway }: GatewayStage): Promise<void> {
  engine.script = (call) => engine.answer(call, answerOf('fine'));
  const response = await gateway.chat({ messages: userSays('still there?') });
  expect(response.status).toBe(200);
  await response.text();
}
