import type { Capture } from '@hindcast/contracts';
import fc from 'fast-check';
import type { FakeEngine, FakeAnswer } from './testing/fake-engine';
import { type BusReader, dataOf, eventually, type RunningGateway } from './testing/gateway-harness';
import { historyMessage, someTools, toolConversation, type ScriptedTurn } from './testing/tool-conversation';
import { startGatewayStage, type GatewayStage } from './testing/gateway-stage';

type Json = Record<string, unknown>;

const SEED = 20_260_101;

/** The message that a streamed answer adds up to, put together as a simple client does. */
function shownMessage(text: string, isStream: boolean): { content: string; reasoning: string; calls: object[] } {
  const shown = { content: '', reasoning: '', calls: [] as { id: string; name: string; arguments: string }[] };
  const pieces = isStream
    ? dataOf(text)
        .filter((data) => data !== '[DONE]')
        .map((data) => JSON.parse(data) as { choices: { delta: Json }[] })
        .flatMap(({ choices }) => choices.map(({ delta }) => delta))
    : (JSON.parse(text) as { choices: { message: Json }[] }).choices.map(({ message }) => message);
  for (const piece of pieces) {
    shown.content += (piece['content'] as string | null | undefined) ?? '';
    shown.reasoning += (piece['reasoning'] ?? piece['reasoning_content'] ?? '') as string;
    const calls = (piece['tool_calls'] ?? []) as { index?: number; id?: string; function: Json }[];
    calls.forEach((call, position) => {
      const known = (shown.calls[call.index ?? position] ??= { id: '', name: '', arguments: '' });
      known.id ||= call.id ?? '';
      known.name ||= (call.function['name'] ?? '') as string;
      known.arguments += (call.function['arguments'] ?? '') as string;
    });
  }
  return shown;
}

const bytesOf = (array: Int32Array | Float32Array): string =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('hex');

function expectSamples(capture: Capture | null, { tokens, promptIds }: FakeAnswer): void {
  expect(capture).not.toBeNull();
  expect(bytesOf(capture!.promptIds)).toBe(bytesOf(Int32Array.from(promptIds!)));
  expect(bytesOf(capture!.responseIds)).toBe(bytesOf(Int32Array.from(tokens, ({ id }) => id)));
  expect(bytesOf(capture!.rolloutLogProbs)).toBe(bytesOf(Float32Array.from(tokens, ({ logProb }) => logProb!)));
}

describe.each(['vllm', 'sglang'] as const)('%s: whatever an agent does', (dialect) => {
  let stage: GatewayStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;
  let conversations = 0;

  beforeAll(async () => {
    stage = await startGatewayStage({}, dialect);
    ({ engine, gateway, bus } = stage);
  });
  afterAll(() => stage.stop());

  /** One request of the conversation; its turn. */
  async function ask(messages: Json[], turn: ScriptedTurn, stream: boolean): Promise<string> {
    engine.script = (call) => engine.answerInPieces(call, turn.answer, turn.cuts);
    const response = await gateway.chat({ messages, tools: someTools, stream });
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.any(String) as string]);
    expect(shownMessage(text, stream)).toEqual(turn.message);
    expect(text).not.toMatch(stream ? /"logprob"|token_ids|sglext|"usage":\{/ : /"logprob"|token_ids|sglext/);
    return response.headers.get('x-hindcast-turn-id')!;
  }

  /** Plays a conversation to its end; the turns and the messages that each was asked with. */
  async function play(script: readonly ScriptedTurn[]): Promise<{ turnId: string; messages: Json[] }[]> {
    let messages: Json[] = [{ role: 'user', content: `conversation ${conversations++}` }];
    const played: { turnId: string; messages: Json[] }[] = [];
    for (const turn of script) {
      played.push({ turnId: await ask(messages, turn, turn.stream), messages });
      messages = [...messages, historyMessage(turn), ...turn.next];
    }
    // The last answer gets its next state, too.
    const ending = await gateway.chat({ messages, tools: someTools }, { 'x-turn-type': 'side' });
    await ending.text();
    return played;
  }

  it('D9 D14 D6 every stored id and log-prob is the engine’s, byte for byte and in order, and each turn gets its next state', async () => {
    await fc.assert(
      fc.asyncProperty(toolConversation, async (script) => {
        const played = await play(script);
        const ids = new Set(played.map(({ turnId }) => turnId));
        const paired = await eventually(async () => {
          const found = (await bus.messages('turnPaired')).filter(({ turnId }) => ids.has(turnId!));
          return found.length >= played.length && found;
        });
        expect(paired).toHaveLength(played.length);
        for (const [index, { turnId, messages }] of played.entries()) {
          const turn = script[index]!;
          const capture = await bus.capture(turnId);
          expectSamples(capture, turn.answer);
          expect(capture!.header.messages).toEqual(messages);
          const { body } = paired.find((message) => message.turnId === turnId)!;
          expect(body.nextState.map(({ role, text }) => [role, text])).toEqual(
            turn.next.map(({ role, content }) => [role, content]),
          );
        }
      }),
      { numRuns: 30, seed: SEED },
    );
  });

  it('D13 streamed and not, cut or not, the same answer is stored as the same sample', async () => {
    await fc.assert(
      fc.asyncProperty(toolConversation, async ([turn]) => {
        const messages = [{ role: 'user', content: `both ways ${conversations++}` }];
        const [whole, streamed] = [await ask(messages, turn!, false), await ask(messages, turn!, true)];
        const [a, b] = await Promise.all([whole, streamed].map((turnId) => eventually(() => bus.capture(turnId))));
        expectSamples(a!, turn!.answer);
        expectSamples(b!, turn!.answer);
        const { turnId: _, responseId: __, at: ___, answer: ____, ...header } = a!.header;
        expect(b!.header).toMatchObject(header);
      }),
      { numRuns: 20, seed: SEED },
    );
  });
});
