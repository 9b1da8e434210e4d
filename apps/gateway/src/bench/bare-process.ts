// What a gateway costs at the least: Node's HTTP server and undici, bytes piped, nothing looked at. With a nats-server it also stores
// each request with its answer, in the two writes that a captured turn takes, before it lets the answer's end go. A yardstick for the
// benchmark, not a gateway: no failure is handled. Started with an IPC channel: takes where the others are, says its port.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jetstream, jetstreamManager, type JetStreamClient } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Agent } from 'undici';
import { BARE_STREAM } from './bare-stream';

const agent = new Agent({ keepAliveTimeout: 3_000 });
/** As long as the record of an open turn. */
const RECORD = Buffer.alloc(600, 'r');
let stored = 0;

process.on('message', (peers: { engineUrl: string; natsUrl: string | null }) => void start(peers));
process.on('disconnect', () => process.exit(0));

async function start({ engineUrl, natsUrl }: { engineUrl: string; natsUrl: string | null }): Promise<void> {
  const store = natsUrl === null ? null : await openStore(natsUrl);
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => hand(engineUrl, store, request, Buffer.concat(pieces), response));
  }).listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
}

async function openStore(servers: string): Promise<JetStreamClient> {
  const connection = await connect({ servers });
  await (await jetstreamManager(connection)).streams.add({ name: BARE_STREAM, subjects: [`${BARE_STREAM}.>`] });
  return jetstream(connection);
}

function hand(
  origin: string,
  store: JetStreamClient | null,
  { method, url }: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): void {
  const answer: Buffer[] = [];
  agent.dispatch(
    {
      origin,
      path: url!,
      method: method as 'GET' | 'POST',
      headers: { 'content-type': 'application/json' },
      body: body.length > 0 ? body : null,
    },
    {
      onRequestStart: () => undefined,
      onResponseStart: (_, status, headers) => {
        response.writeHead(status, { 'content-type': headers['content-type'] });
      },
      onResponseData: (_, piece) => {
        response.write(piece);
        if (store) answer.push(piece);
      },
      onResponseEnd: () => {
        if (!store || body.length === 0) return void response.end();
        const id = ++stored;
        void Promise.all([
          store.publish(`${BARE_STREAM}.turn.${id}`, RECORD),
          store.publish(`${BARE_STREAM}.capture.${id}`, Buffer.concat([body, ...answer])),
        ]).then(() => response.end());
      },
      onResponseError: () => void response.destroy(),
    },
  );
}
