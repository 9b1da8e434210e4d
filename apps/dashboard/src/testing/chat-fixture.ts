import type { ServerResponse } from 'node:http';

const WORDS = 'A list is not needed here: read the two files, compare their dates, and keep the newer one. '.split(' ');

/** A streamed chat completion, word by word; a prompt that holds `fail` breaks off with an error in the stream. */
export async function streamChat(body: unknown, response: ServerResponse): Promise<void> {
  const { model, messages } = body as { model: string; messages: { content: string }[] };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (data: object): void => void response.write(`data: ${JSON.stringify({ model, ...data })}\n\n`);
  const willFail = messages.some(({ content }) => content.includes('fail'));
  for (const [at, word] of WORDS.entries()) {
    if (response.destroyed) return;
    if (willFail && at === 6) {
      send({ error: { message: 'The engine went away.', type: 'server_error', code: 'upstream-failed' } });
      break;
    }
    send({ choices: [{ index: 0, delta: { content: `${word} ` }, finish_reason: null }] });
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  send({ choices: [], usage: { prompt_tokens: 14, completion_tokens: WORDS.length, total_tokens: 14 + WORDS.length } });
  response.end('data: [DONE]\n\n');
}
