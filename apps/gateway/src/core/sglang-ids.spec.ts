import { readCompletion } from './answer';
import { ChunkAssembler } from './chunk-assembler';
import { engineRequest } from './engine-request';
import { SseParser } from './sse-parser';
import { stripEvent, stripFields as stripBytes, type AskedFields } from './strip-fields';
import { choiceIds, extensionIds, promptIdsIn } from './token-ids';

const messages = [{ role: 'user', content: 'x' }];
const request = (extra: object): ReturnType<typeof engineRequest> =>
  engineRequest({ messages, ...extra }, { dialect: 'sglang', isCaptured: true, forceSampling: false });
const extension = ['return_input_ids_in_sglext', 'return_output_ids_in_sglext'];
const returned = (body: object): string[] => Object.keys(body).filter((field) => field.startsWith('return_'));

describe('asking SGLang for ids', () => {
  it.each([
    { why: 'a stream: the other fields are refused with 400', extra: { stream: true }, fields: extension },
    {
      why: 'a whole answer: an older server knows only the last',
      extra: {},
      fields: [...extension, 'return_token_ids'],
    },
    {
      why: 'a client that wants prompt ids in the choice: those must stay',
      extra: { return_prompt_token_ids: true },
      fields: ['return_prompt_token_ids', ...extension],
    },
  ])('$why', ({ extra, fields }) => {
    const { body, asked } = request(extra);
    expect(returned(body).sort()).toEqual([...fields].sort());
    expect(asked.tokenIds).toBe(fields.includes('return_token_ids'));
    expect([...asked.extension!].sort()).toEqual(['input_ids', 'output_ids']);
  });

  it('leaves what the client asked for to the client', () => {
    const { asked } = request({ stream: true, return_output_ids_in_sglext: true });
    expect([...asked.extension!]).toEqual(['input_ids']);
  });
});

describe('places of ids', () => {
  it.each([
    { where: 'vLLM, top level', body: { prompt_token_ids: [1] }, choice: null, prompt: [1] },
    { where: 'SGLang, choice', body: {}, choice: { prompt_token_ids: [2] }, prompt: [2] },
    { where: 'SGLang, sglext', body: { sglext: { input_ids: [3] } }, choice: {}, prompt: [3] },
    {
      where: 'null everywhere',
      body: { prompt_token_ids: null, sglext: null },
      choice: { prompt_token_ids: null },
      prompt: null,
    },
    { where: 'not numbers', body: { prompt_token_ids: ['1'] }, choice: null, prompt: null },
  ])('prompt ids: $where', ({ body, choice, prompt }) => {
    expect(promptIdsIn(body, choice)).toEqual(prompt);
  });

  it.each([
    { where: 'vLLM, SGLang 0.5.17', choice: { token_ids: [1] }, ids: [1] },
    { where: 'SGLang from 0.5.18 on', choice: { response_token_ids: [2] }, ids: [2] },
    { where: 'null first', choice: { token_ids: null, response_token_ids: [2] }, ids: [2] },
    { where: 'nowhere', choice: { token_ids: null }, ids: null },
  ])('sampled ids: $where', ({ choice, ids }) => expect(choiceIds(choice)).toEqual(ids));

  it.each([
    { sglext: { output_ids: [[1], [2, 3]] }, index: 1, ids: [2, 3] },
    { sglext: { output_ids: [[1]] }, index: 1, ids: null },
    { sglext: { output_ids: [['x']] }, index: 0, ids: null },
    { sglext: { output_ids: null }, index: 0, ids: null },
    { sglext: 'x', index: 0, ids: null },
  ])('sampled ids: $sglext, choice $index', ({ sglext, index, ids }) => {
    expect(extensionIds({ sglext }, index)).toEqual(ids);
  });

  it('a stream’s choices each get theirs, after the last of them', () => {
    const assembler = new ChunkAssembler();
    for (const index of [0, 1]) {
      assembler.add({ id: 'r', choices: [{ index, delta: { content: 'x' }, finish_reason: 'stop' }] });
    }
    assembler.add({ choices: [], usage: null, sglext: { input_ids: [9], output_ids: [[1], [2]] } });
    expect(assembler.answers(2).map(({ promptIds, responseIds }) => [promptIds, responseIds])).toEqual([
      [[9], [1]],
      [[9], [2]],
    ]);
  });

  it('a whole answer’s choices each get theirs', () => {
    const choices = [0, 1].map((index) => ({ index, message: { content: 'x' }, finish_reason: 'stop' }));
    const answers = readCompletion({ id: 'r', choices, sglext: { input_ids: [9], output_ids: [[1], [2]] } }, 2);
    expect(answers?.map(({ promptIds, responseIds }) => [promptIds, responseIds])).toEqual([
      [[9], [1]],
      [[9], [2]],
    ]);
  });
});

describe('cutting sglext', () => {
  const strip = (data: string, asked: AskedFields): string | null => {
    const event = new SseParser().push(Buffer.from(`data: ${data}\n\n`))[0]!;
    const out = stripEvent(event, JSON.parse(data) as Record<string, unknown>, asked);
    return out && Buffer.from(out).toString().slice('data: '.length, -2);
  };
  const both = request({ stream: true }).asked;
  const input = request({ stream: true, return_output_ids_in_sglext: true }).asked;

  it.each([
    { data: '{"choices":[],"usage":null,"sglext":{"input_ids":[1],"output_ids":[[2]]}}', asked: both, out: null },
    {
      data: '{"choices":[],"usage":null,"sglext":{"input_ids":[1],"output_ids":[[2]]}}',
      asked: input,
      out: '{"choices":[],"usage":null,"sglext":{"output_ids":[[2]]}}',
    },
    {
      data: '{"choices":[],"usage":null,"sglext":{"routed_experts":"x","input_ids":[1],"output_ids":[[2]]}}',
      asked: both,
      out: '{"choices":[],"usage":null,"sglext":{"routed_experts":"x"}}',
    },
    {
      data: '{"choices":[],"sglext":{"routed_experts":"x"}}',
      asked: both,
      out: '{"choices":[],"sglext":{"routed_experts":"x"}}',
    },
    // The null of a tool chunk is the engine's own.
    { data: '{"choices":[{"delta":{}}],"usage":null}', asked: both, out: '{"choices":[{"delta":{}}],"usage":null}' },
    { data: '{"choices":[],"usage":{"prompt_tokens":1}}', asked: both, out: null },
  ])('$data', ({ data, asked, out }) => expect(strip(data, asked)).toBe(out));

  it('out of a whole answer, all of it or a part', () => {
    const { asked } = request({});
    const text =
      '{"choices":[{"response_token_ids":[2],"message":{}}],"metadata":{},"sglext":{"input_ids":[1],"output_ids":[[2]]}}';
    const stripFields = (json: string): string => Buffer.from(stripBytes(Buffer.from(json), asked, false)).toString();
    expect(stripFields(text)).toBe('{"choices":[{"message":{}}],"metadata":{}}');
    expect(stripFields(text.replace('"input_ids":[1]', '"x":[1]'))).toBe(
      '{"choices":[{"message":{}}],"metadata":{},"sglext":{"x":[1]}}',
    );
  });
});
