import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Probe, Reply } from './evaluation';

/** Answers longer than this are cut off, as in the demonstration. */
const maxAnswerTokens = 120;
/** Requests in flight: the engine computes them together. */
const concurrency = 48;

/** The engine of this repository, serving one model directory on a port of its own. */
export class Engine {
  private constructor(
    private readonly child: ChildProcess,
    private readonly baseUrl: string,
  ) {}

  /**
   * Starts the built engine and waits until it serves.
   * @param main its `dist/main.js`
   */
  static async start(main: string, modelDir: string): Promise<Engine> {
    const env = { ...process.env, PORT: '0', HOST: '127.0.0.1', MODEL_DIR: modelDir, LOG_LEVEL: 'error' };
    const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    process.once('exit', () => child.kill());
    const ended = once(child, 'exit').then(() => {
      throw new Error('the engine ended before it was ready');
    });
    const port = await Promise.race([ended, readyPort(child)]);
    ended.catch(() => undefined); // it ends when it is stopped
    return new Engine(child, `http://127.0.0.1:${port}/v1`);
  }

  /** The model's answers to all probes, at temperature 1; the same seed gives each probe the same draws. */
  async replies(probes: readonly Probe[], seed: number, onReply: () => void): Promise<Reply[]> {
    const replies = new Array<Reply>(probes.length);
    const waiting = probes.entries();
    const work = async (): Promise<void> => {
      for (const [index, probe] of waiting) {
        replies[index] = await this.reply(probe, seed + index);
        onReply();
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    return replies;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await ended;
  }

  private async reply({ messages }: Probe, seed: number): Promise<Reply> {
    const response = await fetch(`${this.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages, temperature: 1, max_tokens: maxAnswerTokens, seed, return_token_ids: true }),
    });
    const body = await response.text();
    if (!response.ok) throw new Error(`the engine answered ${response.status}: ${body}`);
    const [choice] = (JSON.parse(body) as ChatCompletion).choices;
    if (!choice) throw new Error('the engine gave no answer');
    const ended = choice.finish_reason === 'stop';
    // The mark that ends an answer is one of its sampled ids, but none of its text.
    return { text: choice.message.content, tokens: choice.token_ids.length - (ended ? 1 : 0), ended };
  }
}

interface ChatCompletion {
  readonly choices: readonly {
    readonly message: { readonly content: string };
    readonly finish_reason: string;
    readonly token_ids: readonly number[];
  }[];
}

/** The port in the engine's ready line. */
async function readyPort(child: ChildProcess): Promise<number> {
  if (!child.stdout) throw new Error('the engine has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line) as { event?: string; port?: number };
    if (event.event === 'ready' && event.port !== undefined) {
      child.stdout.resume();
      return event.port;
    }
  }
  throw new Error('the engine ended before it was ready');
}
