import type { ServerResponse } from 'node:http';
import { refuse, reply, type SeenCall } from './testing/fake-judge';
import { asksForHint, JudgeBench } from './testing/judge-bench';

let bench: JudgeBench;
beforeAll(async () => {
  bench = await JudgeBench.open();
});
afterAll(() => bench.close());
afterEach(() => bench.reset());

const oneEach = { EVAL_VOTES: '1', HINT_VOTES: '1', JUDGE_CONCURRENCY: '1' };
const asked = (): (string | undefined)[] => bench.judge.calls.map(({ body }) => body.response_format?.type);
const hint = 'Write without bold type.';

/** A server that holds its model to the schema. */
const held = (call: SeenCall, _n: number, response: ServerResponse): void =>
  reply(
    response,
    JSON.stringify({
      reasoning: 'They say \\boxed{0}.',
      score: asksForHint(call) ? 1 : -1,
      ...(asksForHint(call) && { hint }),
    }),
  );

it.each(['auto', 'json_schema'])('%s asks by OpenAI’s response_format and reads the reply as JSON', async (mode) => {
  await bench.start(held, { ...oneEach, JUDGE_STRUCTURED: mode });
  const { body } = await bench.judged();
  expect(body).toMatchObject({ evalScore: -1, hint });
  expect(body.evalVotes[0]!.promptVersion).toMatch(/\+json$/);
  await bench.judged();
  expect(asked()).toEqual(Array(4).fill('json_schema'));
  const [evalCall, hintCall] = bench.judge.calls;
  expect(evalCall!.body.response_format!.json_schema).toEqual({
    name: 'eval_vote',
    strict: true,
    schema: {
      type: 'object',
      properties: { reasoning: { type: 'string' }, score: { type: 'integer', enum: [-1, 0, 1] } },
      required: ['reasoning', 'score'],
      additionalProperties: false,
    },
  });
  expect(hintCall!.body.response_format!.json_schema).toMatchObject({
    name: 'hint_vote',
    schema: {
      properties: { score: { enum: [-1, 1] }, hint: { type: 'string' } },
      required: ['reasoning', 'score', 'hint'],
    },
  });
});

it('off never asks for JSON', async () => {
  await bench.start((_call, _n, response) => reply(response, '\\boxed{1}'), { ...oneEach, JUDGE_STRUCTURED: 'off' });
  const { body } = await bench.judged();
  expect(body.evalScore).toBe(1);
  expect(body.evalVotes[0]!.promptVersion).not.toMatch(/json/);
  expect(asked()).toEqual([undefined, undefined]);
});

it.each([
  { status: 400, message: "'response_format.type' must be 'json_object' or 'text'" },
  { status: 404, message: 'no endpoint supports this' },
  { status: 422, message: 'extra fields not permitted' },
  { status: 501, message: 'not implemented' },
  { status: 500, message: 'response_format type must be one of "text" or "json_object", but got: json_schema' },
])(
  'auto falls back to boxes when the server refuses the schema with $status, and remembers it',
  async ({ status, message }) => {
    await bench.start(
      ({ body }, _n, response) =>
        body.response_format ? refuse(response, status, {}, message) : reply(response, '\\boxed{1}'),
      oneEach,
    );
    expect((await bench.judged()).body).toMatchObject({ evalScore: 1, evalVotes: [{ abstained: null }] });
    expect((await bench.judged()).body.evalScore).toBe(1);
    // The very same vote asked again without it; the others never asked with it.
    expect(asked()).toEqual(['json_schema', undefined, undefined, undefined, undefined]);
  },
);

it('auto reads boxes in prose from a server that ignores the schema, and asks for none after that', async () => {
  await bench.start((_call, _n, response) => reply(response, 'It failed. \\boxed{-1}'), oneEach);
  const { body } = await bench.judged();
  expect(body).toMatchObject({ evalScore: -1, evalVotes: [{ abstained: null }] });
  await bench.judged();
  expect(asked().slice(2)).toEqual([undefined, undefined]);
});

it('auto is not put off by a reply that was cut off, or by a prompt that is refused in any form', async () => {
  await bench.start((call, n, response) => {
    if (n === 1) return reply(response, '{"reasoning": "and so', { finishReason: 'length' });
    if (asksForHint(call) && n < 4) return refuse(response, 400, {}, 'maximum context length');
    held(call, n, response);
  }, oneEach);
  const { body } = await bench.judged();
  expect([body.evalVotes[0]!.abstained, body.hintVotes[0]!.abstained]).toEqual(['unreadable', 'error']);
  expect((await bench.judged()).body).toMatchObject({ evalScore: -1, hint });
  expect(asked()).toEqual(['json_schema', 'json_schema', undefined, 'json_schema', 'json_schema']);
});

it('json_schema takes nothing but JSON for a vote', async () => {
  await bench.start(
    (call, _n, response) => (asksForHint(call) ? refuse(response, 400) : reply(response, 'Fine. \\boxed{1}')),
    { ...oneEach, JUDGE_STRUCTURED: 'json_schema' },
  );
  const { body } = await bench.judged();
  expect([body.evalVotes[0]!.abstained, body.hintVotes[0]!.abstained]).toEqual(['unreadable', 'error']);
  expect(bench.judge.calls).toHaveLength(2);
});
