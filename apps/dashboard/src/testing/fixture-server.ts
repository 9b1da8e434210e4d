import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { streamChat } from './chat-fixture';
import { answerOf } from './fixture-answers';
import { emptyOverviewFixture, overviewFixture } from './overview-fixture';
import { serveFile } from './fixture-files';
import { addTurn } from './turns-fixture';

/**
 * `full`: a loop that runs. `empty`: nothing has come in yet. `failing`: every read fails. `slow`: every answer takes two seconds.
 * `locked`: wants the key `open sesame`.
 */
export type Scenario = 'full' | 'empty' | 'failing' | 'slow' | 'locked';

export interface FixtureServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Serves the built page (`dist`) with the headers of the gateway, and answers its requests with fixtures, as the scenario says. */
export async function startFixtureServer(dist: string, scenario: Scenario = 'full', port = 0): Promise<FixtureServer> {
  const server = createServer((request, response) => {
    handle(request, response, dist, scenario).catch((error: unknown) => {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ error: { message: String(error), type: 'server_error', param: null, code: 'internal' } }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  dist: string,
  scenario: Scenario,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (!url.pathname.startsWith('/admin/') && !url.pathname.startsWith('/v1/'))
    return serveFile(url.pathname, response, dist);
  if (scenario === 'locked' && request.headers.authorization !== 'Bearer open sesame')
    return fail(response, 401, 'unauthorized', 'A key is needed.');
  const isSession = url.pathname === '/admin/v1/session';
  if (url.pathname === '/admin/v1/events') return stream(response, scenario);
  if (scenario === 'slow' && !isSession) await new Promise((resolve) => setTimeout(resolve, 2_000));
  if (scenario === 'failing' && !isSession)
    return fail(response, 503, 'dependency-unavailable', 'The dispatcher does not answer on rl.query.v1.');
  const body = request.method === 'POST' ? await bodyOf(request) : null;
  if (url.pathname === '/v1/chat/completions') return streamChat(body, response);
  const answer = answerOf(request.method ?? 'GET', url, body, scenario);
  if (answer === null) return fail(response, 404, 'not-found', `There is no ${url.pathname}.`);
  response.writeHead(answer.status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer.body));
}

function fail(response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code } }));
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const piece of request) text += String(piece);
  return JSON.parse(text || 'null');
}

/** An overview at once, and a new one with a new turn every three seconds. */
function stream(response: ServerResponse, scenario: Scenario): void {
  if (scenario === 'failing') return fail(response, 503, 'dependency-unavailable', 'The broker does not answer.');
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  const send = (event: string, data: unknown): void =>
    void response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  if (scenario === 'empty') return send('overview', emptyOverviewFixture());
  let turns = 1_284;
  send('overview', overviewFixture(turns));
  if (scenario !== 'full') return;
  const timer = setInterval(() => {
    turns += 1;
    addTurn();
    send('overview', overviewFixture(turns));
    send('turns', { revision: String(turns) });
  }, 3_000);
  response.on('close', () => clearInterval(timer));
}
