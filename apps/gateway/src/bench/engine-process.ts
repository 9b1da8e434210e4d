// The engine of the benchmark: answers as vLLM does, from bytes made once, so that it takes next to nothing of the machine that the
// gateways are measured on. Started with an IPC channel: says its port, takes the pace.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { PACE_MS } from './cells';
import {
  ID_DIGITS,
  STAMP_DIGITS,
  framed,
  streamTemplates,
  wholeTemplate,
  type Asked,
  type Template,
} from './engine-bytes';
import { monotonicUs } from './monotonic';

const HEAD_END = Buffer.from('\r\n\r\n');
const STREAM_HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n',
);
const MODELS = JSON.stringify({
  object: 'list',
  data: [{ id: 'seed', object: 'model', created: 1, owned_by: 'vllm' }],
});
/** A token is about four bytes of text; in steps, so that an answer's bytes are made once for all requests of a size. */
const BYTES_PER_TOKEN = 4;
const TOKEN_STEP = 256;

let isPaced = false;
let answers = 0;
const made = new Map<
  string,
  { readonly whole: Template } | { readonly burst: Template; readonly events: readonly Template[] }
>();

process.on('message', ({ paced }: { paced: boolean }) => {
  isPaced = paced;
  process.send?.({ paced });
});
process.on('disconnect', () => process.exit(0));

/** Copies a template and fills its places. */
function filled({ bytes, idOffsets, stampOffset }: Template, id: string): Buffer {
  const copy = Buffer.from(bytes);
  for (const offset of idOffsets) copy.write(id, offset, ID_DIGITS, 'latin1');
  if (stampOffset !== null)
    copy.write(String(Math.round(monotonicUs())).padStart(STAMP_DIGITS, '0'), stampOffset, 'latin1');
  return copy;
}

const asksFor = (body: Buffer, member: string): boolean =>
  body.includes(`${member}:true`) || body.includes(`${member}: true`);

function respond(socket: Socket, body: Buffer): void {
  const stream = asksFor(body, '"stream"');
  const asked: Asked = {
    promptTokens: TOKEN_STEP * Math.max(1, Math.round(body.length / BYTES_PER_TOKEN / TOKEN_STEP)),
    ids: asksFor(body, '"return_token_ids"'),
    logProbs: asksFor(body, '"logprobs"'),
    usage: asksFor(body, '"include_usage"'),
    stamped: isPaced,
  };
  const key = JSON.stringify([stream, asked]);
  let answer = made.get(key);
  if (!answer) {
    const events = stream ? streamTemplates(asked) : [];
    answer = stream ? { burst: framed(events), events } : { whole: wholeTemplate(asked) };
    made.set(key, answer);
  }
  const id = String(++answers).padStart(ID_DIGITS, '0');
  if ('whole' in answer) {
    const bytes = filled(answer.whole, id);
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${bytes.length}\r\n\r\n`);
    socket.write(bytes);
  } else if (isPaced) pace(socket, answer.events, id);
  else {
    socket.write(STREAM_HEAD);
    socket.write(filled(answer.burst, id));
  }
}

/** The role at once, then a token at every tick counted from the start; usage and end mark with the last one. */
function pace(socket: Socket, events: readonly Template[], id: string): void {
  const started = performance.now();
  const lastToken = events.length - 1 - events.toReversed().findIndex(({ stampOffset }) => stampOffset !== null);
  socket.write(STREAM_HEAD);
  const send = (event: Template): void => {
    const bytes = filled(event, id);
    socket.cork();
    socket.write(`${bytes.length.toString(16)}\r\n`);
    socket.write(bytes);
    socket.write('\r\n');
    socket.uncork();
  };
  let next = 0;
  const step = (): void => {
    if (socket.destroyed) return;
    send(events[next++]!);
    if (next <= lastToken) return void setTimeout(step, Math.max(0, started + next * PACE_MS - performance.now()));
    while (next < events.length) send(events[next++]!);
    socket.write('0\r\n\r\n');
  };
  step();
}

/** Requests with a content length, one after the other on a connection. */
function serve(socket: Socket): void {
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  let pieces: Buffer[] = [];
  let length = 0;
  let head: { readonly path: string; readonly bodyStart: number; readonly end: number } | null = null;
  const readHead = (): void => {
    const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    pieces = [bytes];
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) return;
    const text = bytes.toString('latin1', 0, end);
    const bodyStart = end + HEAD_END.length;
    head = {
      path: text.split(' ', 2)[1] ?? '',
      bodyStart,
      end: bodyStart + Number(/^content-length: *(\d+)/im.exec(text)?.[1] ?? 0),
    };
  };
  socket.on('data', (piece: Buffer) => {
    pieces.push(piece);
    length += piece.length;
    for (;;) {
      if (!head && length > 0) readHead();
      if (!head || length < head.end) return;
      const bytes = Buffer.concat(pieces);
      const { path, bodyStart, end } = head;
      head = null;
      pieces = [bytes.subarray(end)];
      length = bytes.length - end;
      if (path.endsWith('/chat/completions')) respond(socket, bytes.subarray(bodyStart, end));
      else
        socket.write(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${MODELS.length}\r\n\r\n${MODELS}`,
        );
    }
  });
}

const server = createServer(serve).listen(0, '127.0.0.1', () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
