import { type FakeEngine, writeInPieces, type FakeAnswer } from './testing/fake-engine';
import { type BusReader, dataOf, eventually, type RunningGateway } from './testing/gateway-harness';
import { someTools } from './testing/tool-conversation';
import { startGatewayStage, type GatewayStage } from './testing/gateway-stage';

/** Characters of two, three and four bytes, of several code points, in text, reasoning and tool arguments. */
const answer: FakeAnswer = {
  id: 'r',
  promptIds: [1],
  steps: [3],
  tokens: [
    { text: '北', id: 2, logProb: -0.5, delta: { reasoning: '北' } },
    { text: 'é🎉', id: 3, logProb: -1.25e-7 },
    {
      text: 'x',
      id: 4,
      logProb: -2,
      delta: { toolCalls: [{ index: 0, id: 'c', name: 'read', arguments: '{"p":"🇨🇭"}' }] },
    },
  ],
};

type Framing = (events: readonly string[]) => string;
const lines =
  (end: string): Framing =>
  (events) =>
    events.join('').replaceAll('\n', end);
/** Fixtures: the same events as a server, a proxy or a hand might frame them. */
const framings: readonly { name: string; frame: Framing }[] = [
  { name: 'the server’s own', frame: lines('\n') },
  { name: 'D45 \\r\\n', frame: lines('\r\n') },
  { name: 'lone \\r', frame: lines('\r') },
  {
    name: 'D45 mixed line ends',
    frame: (events) => events.map((event, index) => event.replaceAll('\n', ['\n', '\r\n', '\r'][index % 3]!)).join(''),
  },
  { name: 'no space after data:', frame: (events) => events.join('').replaceAll('data: ', 'data:') },
  {
    name: 'comments, ids, retries, blank lines',
    frame: (events) =>
      `: keep-alive\n\nretry: 10\n\n${events.map((event, index) => `: ${index}\nid: ${index}\n${event}\n`).join('')}: bye\n\n`,
  },
  {
    name: 'a chunk over several data lines',
    frame: (events) => events.map((event) => event.replace(',"choices"', '\ndata: ,"choices"')).join(''),
  },
  { name: 'a last event without its blank line', frame: (events) => events.join('').trimEnd() },
];

/** Requests under way at once. */
const LANES = 24;

describe.each(['vllm', 'sglang'] as const)('streams of %s cut anywhere', (dialect) => {
  let stage: GatewayStage;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;

  beforeAll(async () => {
    stage = await startGatewayStage({}, dialect);
    ({ engine, gateway, bus } = stage);
  });
  afterAll(() => stage.stop());

  const request = { messages: [{ role: 'user', content: 'cut' }], tools: someTools, stream: true };
  async function ask(frame: Framing, cuts: readonly number[], headers: Record<string, string> = {}): Promise<Response> {
    const response = await gateway.chat({ ...request, user: JSON.stringify(cuts) }, headers);
    expect(response.status).toBe(200);
    return response;
  }
  function scriptFor(frame: Framing): void {
    engine.script = (call) => {
      engine.openStream(call);
      const bytes = Buffer.from(frame(engine.events(call, answer)));
      return writeInPieces(call, bytes, JSON.parse(call.body['user'] as string) as number[]);
    };
  }

  // Every framing is cut everywhere in sse-parser.spec.ts; here, through sockets, those that differ most.
  const cutEverywhere = (dialect === 'vllm' ? [0, 3, 5] : [6]).map((index) => framings[index]!);
  it.each(cutEverywhere)('D44 D46 at every byte the client gets the same bytes: $name', async ({ frame }) => {
    scriptFor(frame);
    // A side request is stripped of nothing and stored nowhere: all that counts are bytes.
    const whole = await (await ask(frame, [], { 'x-turn-type': 'side' })).text();
    const length = Buffer.byteLength(whole);
    expect(length).toBeGreaterThan(400);
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next <= length) {
        const cut = next++;
        const text = await (await ask(frame, [cut], { 'x-turn-type': 'side' })).text();
        if (text !== whole) throw new Error(`cut at ${cut}: ${text}`);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  });

  it.each(framings)('D44 D45 captured the same whole and byte by byte: $name', async ({ frame }) => {
    scriptFor(frame);
    const everywhere = Array.from({ length: 4000 }, (_, at) => at);
    for (const cuts of [[], everywhere]) {
      const response = await ask(frame, cuts);
      const text = await response.text();
      expect(text).not.toMatch(/"logprob"|token_ids|sglext|\ufffd/);
      for (const part of ['北', 'é🎉', '🇨🇭', '[DONE]']) expect(text).toContain(part);
      const sample = (await eventually(() => bus.capture(response.headers.get('x-hindcast-turn-id')!)))!;
      expect([[...sample.responseIds], [...sample.rolloutLogProbs]]).toEqual([
        [2, 3, 4],
        [-0.5, Math.fround(-1.25e-7), -2],
      ]);
      expect(sample.header.answer).toMatchObject({
        content: 'é🎉',
        tool_calls: [{ function: { name: 'read', arguments: '{"p":"🇨🇭"}' } }],
      });
    }
  });

  it.each([
    'data: [DONE]\n\n',
    'data:[DONE]\n\n',
    'data: [DONE]\r\n\r\n',
    'data: [DONE]\r\n',
    'data: [DONE]',
    '[DONE]\r\n',
    '',
  ])('D48 the end mark %j ends the answer cleanly', async (mark) => {
    scriptFor((events) => events.join('').replace('data: [DONE]\n\n', mark));
    const response = await ask(lines('\n'), []);
    const text = await response.text();
    expect(text.trimEnd().endsWith('[DONE]')).toBe(mark !== '');
    expect(text).not.toContain('"error"');
    const turnId = response.headers.get('x-hindcast-turn-id')!;
    expect((await bus.messageOf('turnCaptured', turnId)).body.untrainable).toBeNull();
  });

  it.each([
    { name: 'D49 event: error', event: 'event: error\ndata: {"message":"died"}\n\n' },
    { name: 'D49 event:error without spaces, \\r\\n', event: 'event:error\r\ndata:{"message":"died"}\r\n\r\n' },
    { name: 'data after which the event is named', event: 'data: {"message":"died"}\nevent: error\n\n' },
    { name: 'an error in a chunk', event: 'data: {"error":{"message":"died","code":500}}\n\n' },
    { name: 'an error in words', event: 'data: {"error":"died"}\n\n' },
  ])('$name, cut anywhere, fails the answer', async ({ event }) => {
    const isHead = (text: string): boolean => text.includes('"role":"assistant"');
    scriptFor((events) => events[0]! + event);
    const end = Buffer.byteLength(event);
    for (let back = 0; back <= end; back += 7) {
      const size = Buffer.byteLength(await (await ask(lines('\n'), [], { 'x-turn-type': 'side' })).text());
      const response = await ask(lines('\n'), [size - back]);
      const text = await response.text();
      expect(isHead(text)).toBe(true);
      // Told once, and so that a client that reads no event names sees it.
      const { error } = JSON.parse(dataOf(text).at(-1)!) as { error: { message: string } | string };
      expect(typeof error === 'string' ? error : error.message).toBe('died');
      const turnId = response.headers.get('x-hindcast-turn-id')!;
      expect((await bus.messageOf('turnClosed', turnId)).body.reason).toBe('failed');
      expect(await bus.capture(turnId)).toBeNull();
    }
  });
});
