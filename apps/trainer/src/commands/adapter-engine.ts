import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { HindcastError } from '@hindcast/contracts';
import { z } from 'zod';

const MAIN = join(__dirname, '../../../engine/dist/main.js');
const ADAPTER = 'checked';

const Completion = z.looseObject({
  choices: z.tuple([
    z.looseObject({
      token_ids: z.array(z.int()).nullish(),
      logprobs: z.looseObject({ token_logprobs: z.array(z.number()) }).nullish(),
      prompt_logprobs: z.array(z.record(z.string(), z.looseObject({ logprob: z.number() })).nullable()).nullish(),
    }),
  ]),
});

/** The embedded engine, a process of its own, serving a model with an adapter. */
export class AdapterEngine {
  private constructor(
    private readonly child: ChildProcess,
    private readonly url: string,
  ) {}

  static async start(modelDir: string, adapterDir: string): Promise<AdapterEngine> {
    if (!existsSync(MAIN)) throw new HindcastError('config-invalid', 'the engine is not built; run: npm run build');
    const child = spawn(process.execPath, [MAIN], {
      // eslint-disable-next-line no-restricted-properties -- the child gets the caller's environment, as from a shell
      env: { ...process.env, PORT: '0', LOG_LEVEL: 'warn', MODEL_DIR: modelDir },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const engine = new AdapterEngine(child, await urlOf(child));
      await engine.post('load_lora_adapter', { lora_name: ADAPTER, lora_path: resolve(adapterDir) });
      return engine;
    } catch (error) {
      child.kill();
      throw error;
    }
  }

  /** Samples an answer at temperature 1, as users get it: its ids and their log-probs, nats, of the decoding path. */
  async sample(
    promptIds: readonly number[],
    maxTokens: number,
    seed: number,
  ): Promise<{ ids: number[]; logProbs: number[] }> {
    const choice = await this.complete({
      prompt: promptIds,
      max_tokens: maxTokens,
      seed,
      logprobs: 0,
      return_token_ids: true,
    });
    return { ids: choice.token_ids ?? [], logProbs: choice.logprobs?.token_logprobs ?? [] };
  }

  /** log π of every id but the first, nats, as the teacher service asks for them. */
  async score(ids: readonly number[]): Promise<number[]> {
    const choice = await this.complete({ prompt: ids, max_tokens: 0, prompt_logprobs: 0 });
    return (choice.prompt_logprobs ?? []).slice(1).map((entry, i) => entry?.[String(ids[i + 1])]?.logprob ?? NaN);
  }

  close(): void {
    this.child.kill();
  }

  private async complete(fields: object) {
    const body: unknown = JSON.parse(await this.post('completions', { model: ADAPTER, ...fields }));
    return Completion.parse(body).choices[0];
  }

  private async post(path: string, body: object): Promise<string> {
    const response = await fetch(`${this.url}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = await response.text();
    if (!response.ok) throw new HindcastError('invalid-request', `the engine answers ${response.status}: ${answer}`);
    return answer;
  }
}

async function urlOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const event = JSON.parse(line) as { event?: string; port?: number };
    if (event.event === 'ready') {
      // Nobody reads the rest; a full pipe would stop the engine.
      child.stdout!.resume();
      return `http://127.0.0.1:${event.port}/v1`;
    }
  }
  throw new HindcastError('config-invalid', 'the engine did not start; what it said stands above');
}
