import { appendFileSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spansOf, type CollectedSpan } from './collected-spans';

/** What a collector with an OTLP/HTTP receiver and a file exporter is: takes `http/json`, writes one export a line. */
export class TraceCollector {
  /** Requests as they came: path, headers, body. */
  readonly requests: { readonly path: string; readonly type: string; readonly body: Buffer }[] = [];

  private constructor(
    readonly url: string,
    readonly file: string,
    private readonly close: () => Promise<void>,
  ) {}

  static async start(file?: string): Promise<TraceCollector> {
    const folder = mkdtempSync(join(tmpdir(), 'hindcast-traces-'));
    const server = createServer((request, response) => {
      void bodyOf(request).then((body) => {
        const type = String(request.headers['content-type']);
        collector.requests.push({ path: request.url ?? '', type, body });
        if (type === 'application/json')
          appendFileSync(collector.file, `${JSON.stringify(JSON.parse(String(body)))}\n`);
        response.writeHead(200, { 'content-type': type }).end(type === 'application/json' ? '{}' : '');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const close = (): Promise<void> =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
        rmSync(folder, { recursive: true, force: true });
      });
    const collector = new TraceCollector(`http://127.0.0.1:${port}`, file ?? join(folder, 'traces.jsonl'), close);
    appendFileSync(collector.file, '');
    return collector;
  }

  spans(): CollectedSpan[] {
    return spansOf(readFileSync(this.file, 'utf8'));
  }

  stop(): Promise<void> {
    return this.close();
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}
