import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { median } from './report';

const BATCHES = [1, 8, 16];
const TOKENS = 200;
const PROMPT = 'What is rain, and why does it fall? Please answer at length.';

export interface HttpRow {
  readonly batch: number;
  /** Median over the rounds of generated tokens per second, whole answers without log-probs. */
  readonly tokensPerSecond: number;
  /** The same, streamed with ids and log-probs: what the gateway asks for. */
  readonly streamedTokensPerSecond: number;
  /** Median milliseconds from the request to its first streamed token. */
  readonly firstTokenMs: number;
  readonly timesBatchOne: number;
}

/** The engine in a process of its own with the seed model, asked over HTTP: answers by batch, and scoring a prompt. */
export async function overHttp(rounds: number): Promise<{
  tokens: number;
  batches: HttpRow[];
  scoring: { promptTokens: number; tokensPerSecond: number };
}> {
  const engine = await startEngine();
  try {
    await round(engine.url, 16, false);
    const rows: HttpRow[] = [];
    for (const batch of BATCHES) {
      const whole: number[] = [];
      const streamed: number[] = [];
      const firsts: number[] = [];
      for (let i = 0; i < rounds; i++) {
        whole.push((await round(engine.url, batch, false)).tokensPerSecond);
        const stream = await round(engine.url, batch, true);
        streamed.push(stream.tokensPerSecond);
        firsts.push(...stream.firstTokenMs);
      }
      const tokensPerSecond = median(whole);
      rows.push({
        batch,
        tokensPerSecond: Math.round(tokensPerSecond),
        streamedTokensPerSecond: Math.round(median(streamed)),
        firstTokenMs: Number(median(firsts).toFixed(1)),
        timesBatchOne: Number((tokensPerSecond / (rows[0]?.tokensPerSecond ?? tokensPerSecond)).toFixed(2)),
      });
    }
    return { tokens: TOKENS, batches: rows, scoring: await scoringRate(engine.url, rounds) };
  } finally {
    engine.process.kill();
  }
}

async function startEngine(): Promise<{ url: string; process: ChildProcess }> {
  const child = spawn(process.execPath, [join(__dirname, '../main.js')], {
    // eslint-disable-next-line no-restricted-properties -- the child gets the caller's environment, as from a shell
    env: { ...process.env, PORT: '0', LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line) as { event?: string; port?: number };
    if (event.event === 'ready') return { url: `http://127.0.0.1:${event.port}/v1`, process: child };
  }
  throw new Error('the engine did not start');
}

/** `batch` answers at once. */
async function round(
  url: string,
  batch: number,
  stream: boolean,
): Promise<{ tokensPerSecond: number; firstTokenMs: number[] }> {
  const started = performance.now();
  const firstTokenMs = await Promise.all(Array.from({ length: batch }, (_, i) => answer(url, i, stream)));
  return { tokensPerSecond: (batch * TOKENS * 1000) / (performance.now() - started), firstTokenMs };
}

/** Reads one answer to its end; milliseconds to its first body bytes. */
async function answer(url: string, seed: number, stream: boolean): Promise<number> {
  const started = performance.now();
  const response = await post(`${url}/chat/completions`, {
    messages: [{ role: 'user', content: PROMPT }],
    max_tokens: TOKENS,
    ignore_eos: true,
    seed,
    stream,
    ...(stream && { logprobs: true, return_token_ids: true }),
  });
  let first: number | null = null;
  for await (const _ of response.body!) first ??= performance.now() - started;
  if (first === null) throw new Error('an empty answer');
  return first;
}

async function scoringRate(url: string, rounds: number): Promise<{ promptTokens: number; tokensPerSecond: number }> {
  const prompt = Array.from({ length: 400 }, (_, i) => 6 + ((i * 37) % 900));
  const rates: number[] = [];
  for (let i = 0; i < rounds * 4; i++) {
    const started = performance.now();
    await (await post(`${url}/completions`, { prompt, max_tokens: 1, prompt_logprobs: 0 })).json();
    rates.push((prompt.length * 1000) / (performance.now() - started));
  }
  return { promptTokens: prompt.length, tokensPerSecond: Math.round(median(rates)) };
}

async function post(url: string, body: object): Promise<Response> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response;
}
