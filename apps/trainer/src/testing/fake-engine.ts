import { existsSync, readdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

type Body = Record<string, unknown>;
interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** How the engine has versions: adapters of vLLM or SGLang beside the weights, which both can replace; or whole weights by name. */
export type FakeKind = 'vllm' | 'sglang' | 'named';

/** A scripted engine that speaks the calls of publication over a real socket; its faults are set from outside. */
export class FakeEngine {
  /** Adapters and named weights → path, as loaded now. */
  readonly adapters = new Map<string, string>();
  /** Every successful load, in order. */
  readonly loads: string[] = [];
  /** Every path that was asked for, in order, without what only reads. */
  readonly calls: string[] = [];
  /** Keys that came, in order. */
  readonly keys = new Set<string | undefined>();
  /** Chats answered so far: serving goes on whatever publication does. */
  samples = 0;
  /** Status that a load or an update is answered with instead, or `null`. */
  loadStatus: number | null = null;
  /** Loads and updates that fail before one succeeds again. */
  failures = 0;
  /** A load waits for this before it is answered. */
  loadGate: Promise<void> = Promise.resolve();
  /** Loads that were asked for. */
  loadRequests = 0;
  /** Log-prob of every sampled token. */
  logProb: number | null = -1;
  /** Tokens that an answer consists of. */
  answer: readonly number[] = [70, 71, 4];
  /** Folder of the only weights and their label; what it was started with has none of our labels. */
  weights = { path: 'base', label: null as string | null };
  /** Weights that computed what the prefix cache holds; `null`: it is empty. */
  cachedBy: string | null = null;
  /** The prefix cache cannot be emptied. */
  refusesFlush = false;
  isPaused = false;
  /** Answers that a cache of other weights had a part in. */
  staleAnswers = 0;
  private running = 0;
  private waiting: (() => void)[] = [];

  private server: Server | null = null;
  private port = 0;

  constructor(private readonly kind: FakeKind = 'vllm') {}

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }

  async start(): Promise<this> {
    this.server = createServer((request, response) => void this.serve(request, response)).listen(
      this.port,
      '127.0.0.1',
    );
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
    return this;
  }

  /** Gone, with everything it held; `start` brings it back on the same port, as it was at first. */
  async die(): Promise<void> {
    this.adapters.clear();
    this.weights = { path: 'base', label: null };
    this.cachedBy = null;
    this.isPaused = false;
    this.server?.closeAllConnections();
    this.server?.close();
    if (this.server?.listening) await once(this.server, 'close');
    this.server = null;
  }

  /** An answer that is under way until the returned function is called, which tells the weights that began and ended it. */
  async begin(): Promise<() => { readonly began: string; readonly ended: string }> {
    await this.turn();
    this.running++;
    const began = this.weights.path;
    return () => {
      this.running--;
      const ended = this.weights.path;
      this.wake();
      return { began, ended };
    };
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text: Buffer[] = [];
    for await (const piece of request) text.push(piece as Buffer);
    const body = text.length > 0 ? (JSON.parse(Buffer.concat(text).toString()) as Body) : {};
    this.keys.add(request.headers.authorization);
    if (request.method === 'POST') this.calls.push(request.url!);
    const { status, body: answer } = await this.reply(request.url!, body);
    response.writeHead(status, { 'content-type': typeof answer === 'string' ? 'text/plain' : 'application/json' });
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  }

  private async reply(url: string, body: Body): Promise<Reply> {
    if (url === '/v1/models') return { status: 200, body: { data: this.cards() } };
    if (url === '/v1/completions') return await this.complete(body);
    const replies = { vllm: this.vllm, sglang: this.sglang, named: this.named }[this.kind];
    return (await replies.call(this, url, body)) ?? error(404, `no route ${url}`);
  }

  private cards(): object[] {
    const base = { id: 'seed', parent: null, ...(this.kind === 'named' && { loads_weights: true }) };
    const prefix = this.kind === 'sglang' ? 'seed:' : '';
    return [base, ...[...this.adapters.keys()].map((name) => ({ id: prefix + name, parent: 'seed' }))];
  }

  private async named(url: string, body: Body): Promise<Reply | null> {
    if (url === '/v1/load_weights') return await this.load(String(body['name']), String(body['path']), 'model');
    if (url === '/v1/unload_weights') return this.unload(String(body['name']));
    return null;
  }

  private async vllm(url: string, body: Body): Promise<Reply | null> {
    switch (url) {
      case '/v1/load_lora_adapter':
        return await this.load(String(body['lora_name']), String(body['lora_path']), 'adapter');
      case '/v1/unload_lora_adapter':
        return this.unload(String(body['lora_name']));
      case '/is_paused':
        return { status: 200, body: { is_paused: this.isPaused } };
      case '/weight_info':
        return { status: 200, body: { weight_version: this.weights.label } };
      case '/pause?mode=wait&clear_cache=true':
        this.isPaused = true;
        await this.drained();
        this.cachedBy = null;
        return { status: 200, body: { status: 'paused' } };
      case '/resume':
        this.isPaused = false;
        this.wake();
        return { status: 200, body: { status: 'resumed' } };
      case '/collective_rpc': {
        const { weights_path: path } = body['kwargs'] as { weights_path: string };
        const refusal = await this.update(path);
        return refusal ?? { status: 200, body: { results: [null] } };
      }
      case '/reset_prefix_cache':
        if (this.refusesFlush) return { status: 200, body: { success: false } };
        this.cachedBy = null;
        return { status: 200, body: '' };
      case '/update_weight_version':
        this.weights.label = String(body['new_version']);
        return { status: 200, body: { success: true, new_version: body['new_version'] } };
      default:
        return null;
    }
  }

  private async sglang(url: string, body: Body): Promise<Reply | null> {
    switch (url) {
      case '/load_lora_adapter': {
        const { status, body: text } = await this.load(String(body['lora_name']), String(body['lora_path']), 'adapter');
        const message = status === 200 ? null : (text as { error: { message: string } }).error.message;
        return { status: status === 200 ? 200 : 400, body: { success: status === 200, error_message: message } };
      }
      case '/unload_lora_adapter':
        return { status: 200, body: { success: this.adapters.delete(String(body['lora_name'])) } };
      case '/generate':
        return await this.generate(body);
      case '/get_model_info':
        return { status: 200, body: { weight_version: this.weights.label ?? 'default' } };
      case '/update_weight_version':
        this.weights.label = String(body['new_version']);
        return { status: 200, body: { success: true, new_version: body['new_version'] } };
      case '/update_weights_from_disk': {
        this.isPaused = true;
        await this.drained();
        const refusal = await this.update(String(body['model_path']));
        if (!refusal && body['flush_cache'] === true && !this.refusesFlush) this.cachedBy = null;
        if (!refusal && !this.refusesFlush) this.weights.label = String(body['weight_version']);
        this.isPaused = false;
        this.wake();
        if (refusal) return { status: 400, body: { success: false, message: 'Failed to update weights' } };
        if (this.refusesFlush) return { status: 400, body: { success: false, message: 'Cache flush failed' } };
        return { status: 200, body: { success: true, message: 'Succeeded to update model weights.' } };
      }
      default:
        return null;
    }
  }

  private async load(name: string, path: string, file: 'adapter' | 'model'): Promise<Reply> {
    this.loadRequests++;
    await this.loadGate;
    if (this.fails()) return error(this.loadStatus ?? 500, 'this load was told to fail');
    if (this.adapters.has(name)) return error(400, `The lora adapter '${name}' has already been loaded.`);
    const isThere = file === 'adapter' ? existsSync(join(path, 'adapter_model.safetensors')) : isModel(path);
    if (!isThere) return error(404, `No adapter found for ${path}`);
    this.adapters.set(name, path);
    this.loads.push(name);
    return { status: 200, body: `Success: LoRA adapter '${name}' added successfully.` };
  }

  private fails(): boolean {
    return this.loadStatus !== null || this.failures-- > 0;
  }

  private unload(name: string): Reply {
    if (this.adapters.delete(name)) return { status: 200, body: 'Success' };
    return error(404, `The lora adapter '${name}' cannot be found.`);
  }

  /** @returns why the weights are what they were */
  private async update(path: string): Promise<Reply | null> {
    this.loadRequests++;
    await this.loadGate;
    if (this.fails()) return error(this.loadStatus ?? 500, 'this update was told to fail');
    this.weights.path = path;
    this.loads.push(path);
    return null;
  }

  private async complete({ model, max_tokens: limit }: Body): Promise<Reply> {
    if (model !== 'seed' && !this.adapters.has(String(model)))
      return error(404, `The model \`${String(model)}\` does not exist.`);
    const ids = await this.sample(model === 'seed', Number(limit));
    const choice = { token_ids: ids, logprobs: { token_logprobs: ids.map(() => this.logProb) } };
    return { status: 200, body: { choices: [choice] } };
  }

  private async generate({ lora_path: adapter, sampling_params: sampling }: Body): Promise<Reply> {
    if (adapter !== undefined && !this.adapters.has(String(adapter)))
      return error(400, `Got LoRA adapter that has never been loaded: ${String(adapter)}`);
    const ids = await this.sample(adapter === undefined, (sampling as { max_new_tokens: number }).max_new_tokens);
    return { status: 200, body: { meta_info: { output_token_logprobs: ids.map((id) => [this.logProb, id, null]) } } };
  }

  private async sample(fromWeights: boolean, limit: number): Promise<readonly number[]> {
    await this.turn();
    this.samples++;
    if (fromWeights) {
      if (this.cachedBy !== null && this.cachedBy !== this.weights.path) this.staleAnswers++;
      this.cachedBy = this.weights.path;
    }
    return this.answer.slice(0, limit);
  }

  private async turn(): Promise<void> {
    while (this.isPaused) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private async drained(): Promise<void> {
    while (this.running > 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

const isModel = (path: string): boolean =>
  existsSync(path) && readdirSync(path).some((name) => /^model.*\.safetensors$/.test(name));

function error(code: number, message: string): Reply {
  return { status: code, body: { error: { message, type: 'BadRequestError', code } } };
}
