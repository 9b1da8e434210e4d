import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

interface SampleBody {
  readonly model: string;
  readonly prompt: readonly number[];
  readonly max_tokens: number;
}

/** A scripted engine that speaks vLLM's adapter calls; its faults are set from outside. */
export class FakeEngine {
  /** Adapter name → path, as loaded now. */
  readonly adapters = new Map<string, string>();
  /** Every successful load, in order. */
  readonly loads: string[] = [];
  /** Chats answered so far: serving goes on whatever publication does. */
  samples = 0;
  /** Status that a load is answered with instead, or `null`. */
  loadStatus: number | null = null;
  /** A load waits for this before it is answered. */
  loadGate: Promise<void> = Promise.resolve();
  /** Loads that were asked for. */
  loadRequests = 0;
  /** Log-prob of every sampled token. */
  logProb: number | null = -1;
  /** Tokens that an answer consists of. */
  answer: readonly number[] = [70, 71, 4];

  private server: Server | null = null;
  private port = 0;

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }

  async start(): Promise<this> {
    this.server = createServer((request, response) => {
      void this.reply(request).then(({ status, body }) => {
        response.writeHead(status, { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json' });
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
      });
    }).listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
    return this;
  }

  /** Gone, with everything it held; `start` brings it back on the same port, empty. */
  async die(): Promise<void> {
    this.adapters.clear();
    this.server?.closeAllConnections();
    this.server?.close();
    if (this.server?.listening) await once(this.server, 'close');
    this.server = null;
  }

  private async reply(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    const text: Buffer[] = [];
    for await (const piece of request) text.push(piece as Buffer);
    const body = text.length > 0 ? (JSON.parse(Buffer.concat(text).toString()) as Record<string, unknown>) : {};
    switch (request.url) {
      case '/v1/models':
        return { status: 200, body: { data: ['seed', ...this.adapters.keys()].map((id) => ({ id })) } };
      case '/v1/load_lora_adapter':
        this.loadRequests++;
        await this.loadGate;
        return this.load(String(body['lora_name']), String(body['lora_path']));
      case '/v1/unload_lora_adapter': {
        const found = this.adapters.delete(String(body['lora_name']));
        return found
          ? { status: 200, body: 'Success' }
          : error(404, `The lora adapter '${body['lora_name']}' cannot be found.`);
      }
      case '/v1/completions':
        return this.sample(body as unknown as SampleBody);
      default:
        return error(404, `no route ${request.url}`);
    }
  }

  private load(name: string, path: string): { status: number; body: unknown } {
    if (this.loadStatus !== null) return error(this.loadStatus, 'this load was told to fail');
    if (this.adapters.has(name)) return error(400, `The lora adapter '${name}' has already been loaded.`);
    if (!existsSync(join(path, 'adapter_model.safetensors'))) return error(404, `No adapter found for ${path}`);
    this.adapters.set(name, path);
    this.loads.push(name);
    return { status: 200, body: `Success: LoRA adapter '${name}' added successfully.` };
  }

  private sample({ model, max_tokens }: SampleBody): { status: number; body: unknown } {
    if (model !== 'seed' && !this.adapters.has(model)) return error(404, `The model \`${model}\` does not exist.`);
    this.samples++;
    const ids = this.answer.slice(0, max_tokens);
    const choice = { token_ids: ids, logprobs: { token_logprobs: ids.map(() => this.logProb) } };
    return { status: 200, body: { choices: [choice] } };
  }
}

function error(code: number, message: string): { status: number; body: unknown } {
  return { status: code, body: { error: { message, type: 'BadRequestError', code } } };
}
