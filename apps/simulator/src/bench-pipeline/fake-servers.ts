// A judge and a teacher engine that cost next to nothing, each started as a process of its own. They speak the real protocols: the
// judge OpenAI's chat completions, the engine vLLM's `/tokenize` and `/v1/completions` with `prompt_logprobs`.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promptIds, responseIds } from './turns';

/** What to be; sent to the process once. */
export type FakeServer = { readonly kind: 'judge'; readonly delayMs: number } | { readonly kind: 'engine' };

/** The line by which the teacher's prompt is known (docs/engine-calls.md). */
const HINT_TAG = "[user's hint / instruction]";
/** Ids that the hint adds to the prompt. */
const HINT_IDS = Array.from({ length: 24 }, (_, i) => 2_000 + i);
const HINT = 'Answer in one sentence when the user wants something short.';

process.once('message', (server: FakeServer) => {
  const answer = server.kind === 'judge' ? judge(server.delayMs) : engine();
  const http = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => answer(request, Buffer.concat(pieces), response));
  });
  http.keepAliveTimeout = 60_000;
  http.listen(0, '127.0.0.1', () => process.send!({ port: (http.address() as AddressInfo).port }));
});
process.once('disconnect', () => process.exit(0));

type Answer = (request: IncomingMessage, body: Buffer, response: ServerResponse) => void;

/** Every hint vote has the hint, every eval vote is −1. */
function judge(delayMs: number): Answer {
  const completion = (content: string): Buffer =>
    Buffer.from(
      JSON.stringify({
        id: 'chatcmpl-judge',
        object: 'chat.completion',
        created: 1_700_000_000,
        model: 'judge',
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 2_400, completion_tokens: 40, total_tokens: 2_440 },
      }),
    );
  const reasoning = 'The user says what was missing.';
  const hint = completion(`${reasoning} \\boxed{1} [HINT_START]${HINT}[HINT_END]`);
  const evaluation = completion(`${reasoning} \\boxed{-1}`);
  const structuredHint = completion(JSON.stringify({ reasoning, score: 1, hint: HINT }));
  const structuredEvaluation = completion(JSON.stringify({ reasoning, score: -1 }));
  return (_, body, response) => {
    const structured = body.includes('"json_schema"');
    const wantsHint = structured ? body.includes('"hint"') : body.includes('HINT_START');
    const bytes = wantsHint ? (structured ? structuredHint : hint) : structured ? structuredEvaluation : evaluation;
    if (delayMs === 0) send(response, bytes);
    else setTimeout(send, delayMs, response, bytes);
  };
}

function engine(): Answer {
  const tokens = (ids: readonly number[]): Buffer =>
    Buffer.from(JSON.stringify({ count: ids.length, max_model_len: 32_768, tokens: ids, token_strs: null }));
  const plain = tokens([...promptIds]);
  const hinted = tokens([...promptIds, ...HINT_IDS]);
  const entry = (id: number, i: number): object => ({
    [id]: { logprob: -0.02 - ((i * 31) % 128) / 64, rank: 1, decoded_token: ' word' },
  });
  const ids = [...promptIds, ...HINT_IDS, ...responseIds];
  const scores = Buffer.from(
    JSON.stringify({
      id: 'cmpl-1',
      object: 'text_completion',
      created: 1_700_000_000,
      model: 'seed',
      choices: [
        {
          index: 0,
          text: ' word',
          logprobs: null,
          finish_reason: 'length',
          stop_reason: null,
          prompt_logprobs: [null, ...ids.slice(1).map(entry)],
        },
      ],
      usage: { prompt_tokens: ids.length, total_tokens: ids.length + 1, completion_tokens: 1 },
    }),
  );
  const models = Buffer.from(
    JSON.stringify({ object: 'list', data: [{ id: 'seed', object: 'model', max_model_len: 32_768 }] }),
  );
  return (request, body, response) => {
    if (request.url === '/tokenize') send(response, body.includes(HINT_TAG) ? hinted : plain);
    else if (request.url === '/v1/completions') send(response, scores);
    else if (request.url === '/v1/models') send(response, models);
    else send(response, Buffer.from('{}'));
  };
}

function send(response: ServerResponse, bytes: Buffer): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
  response.end(bytes);
}
