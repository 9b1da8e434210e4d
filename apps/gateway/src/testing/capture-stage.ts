import type { Capture } from '@hindcast/contracts';
import type { EngineCall, FakeAnswer, FakeToken } from './fake-engine';
import { startGatewayStage, type GatewayStage } from './gateway-stage';

/** A sampled token and what a client sees of it; a `delta` of `null` is never shown. */
export const shown = (text: string, id: number, delta?: FakeToken['delta']): FakeToken => ({
  text,
  id,
  logProb: -id / 64,
  ...(delta !== undefined && { delta }),
});
export const idsOf = ({ tokens }: FakeAnswer): number[] => tokens.map(({ id }) => id);
const call = (index: number, id: string, name: string): FakeToken['delta'] => ({
  toolCalls: [{ index, id, name, arguments: '' }],
});
const piece = (index: number, text: string): FakeToken['delta'] => ({ toolCalls: [{ index, arguments: text }] });

export const thinkingAnswer: FakeAnswer = {
  promptIds: [9, 8, 7],
  tokens: [
    shown('<think>', 1, null),
    shown('let me', 2, { reasoning: 'let me' }),
    shown(' see', 3, { reasoning: ' see' }),
    shown('</think>', 4, null),
    shown('Yes.', 5),
    shown('<|im_end|>', 6, null),
  ],
};
export const callingAnswer: FakeAnswer = {
  promptIds: [9, 8],
  tokens: [
    shown('Looking. ', 1),
    shown('<tool_call>', 2, null),
    shown('read', 3, call(0, 'call_a', 'read_file')),
    shown('{"path":', 4, piece(0, '{"path":')),
    shown('<sep>', 5, call(1, 'call_b', 'search')),
    shown('"é"}', 6, {
      toolCalls: [
        { index: 0, arguments: '"é"}' },
        { index: 1, arguments: '{"q"' },
      ],
    }),
    shown(':1}', 7, piece(1, ':1}')),
    shown('</tool_call>', 8, null),
  ],
};

/** What a client was given for a request. */
export interface Asked {
  readonly turnId: string;
  readonly text: string;
}

/** A gateway whose every answer that ends is captured, and what its captures say. */
export interface CaptureStage extends GatewayStage {
  /** @param change of the request before the engine answers it */
  ask(
    this: void,
    body: Record<string, unknown>,
    answer: FakeAnswer,
    change?: (asked: EngineCall) => void,
  ): Promise<Asked>;
  /** The capture of a turn that can be trained. */
  sampleOf(this: void, asked: Asked): Promise<Capture>;
  /** Why the turn cannot be trained. */
  untrainable(this: void, asked: Asked): Promise<string | null>;
}

export async function startCaptureStage(dialect: 'vllm' | 'sglang'): Promise<CaptureStage> {
  const stage = await startGatewayStage({}, dialect);
  const { engine, gateway, bus } = stage;
  const untrainable = async ({ turnId }: Asked): Promise<string | null> =>
    (await bus.messageOf('turnCaptured', turnId)).body.untrainable;
  return {
    ...stage,
    ask: async (body, answer, change = () => undefined) => {
      engine.script = (asked) => {
        change(asked);
        engine.answer(asked, answer);
      };
      const response = await gateway.chat(body);
      const text = await response.text();
      expect([response.status, text.slice(0, 200)]).toEqual([200, expect.anything()]);
      return { turnId: response.headers.get('x-hindcast-turn-id')!, text };
    },
    sampleOf: async (asked) => {
      expect(await untrainable(asked)).toBeNull();
      return (await bus.capture(asked.turnId))!;
    },
    untrainable,
    stop: async () => {
      const [ended, stored] = await Promise.all(
        ['answers_ended_total', 'turns_stored_total'].map((name) => gateway.metric(name)),
      );
      expect(ended).toBeGreaterThan(0);
      expect(ended).toBe(stored);
      await stage.stop();
    },
  };
}
