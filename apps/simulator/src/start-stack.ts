import { createHash, randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { environment } from './config';
import { keysOf, withSimulatedUsers } from './core/gateway-keys';
import type { Method } from './core/report';
import type { Feedback } from './core/user';
import { Progress, say } from './progress';
import { demoPreset } from './stack/preset';
import { killEverything, Stack } from './stack/stack';

/** Built to apps/simulator/dist. */
export const root = resolve(__dirname, '../../..');

/** Processes of a whole stack, the broker included. */
const PROCESSES = 8;

export interface StartOptions {
  readonly dataDir: string;
  readonly ports: 'default' | 'any';
  readonly gatewayPort?: number;
  readonly method: Method;
  readonly feedback: Feedback;
  readonly seed: number;
  /** Settings of the person's own environment win over the preset. */
  readonly environmentWins: boolean;
  /** A judge in place of the demo judge, with /v1. */
  readonly judgeBaseUrl?: string;
  /** Settings beyond the preset. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Starts everything with the demo preset and ends it on Ctrl-C, on SIGTERM and when this program ends. */
export async function startStack(options: StartOptions): Promise<Stack> {
  const preset: Record<string, string> = {
    ...demoPreset,
    METHOD: options.method,
    MODEL_DIR: join(root, 'models/seed'),
    DEMO_JUDGE_NOISE: options.feedback,
    DEMO_JUDGE_SEED: String(options.seed),
    POLICY_MODEL: 'seed',
    SERVED_MODEL_NAME: 'seed',
  };
  const own = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[0] in preset && entry[1] !== undefined && entry[1] !== '',
  );
  const judgeBaseUrl =
    options.judgeBaseUrl ?? (options.environmentWins ? environment['JUDGE_BASE_URL'] || undefined : undefined);
  const keys = keysOf({ ...(options.environmentWins ? environment : {}), ...options.settings });
  const apiKey = `sk-${randomBytes(24).toString('hex')}`;
  const progress = new Progress('Starting', judgeBaseUrl === undefined ? PROCESSES : PROCESSES - 1, 100);
  try {
    return await Stack.start({
      root,
      dataDir: resolve(options.dataDir),
      natsServerBinary: environment['NATS_SERVER_BIN'] ?? 'nats-server',
      ports: options.ports,
      ...(options.gatewayPort === undefined ? {} : { gatewayPort: options.gatewayPort }),
      settings: { ...preset, ...options.settings, ...(options.environmentWins ? Object.fromEntries(own) : {}) },
      ...(keys === null ? {} : { keys: withSimulatedUsers(keys, sha256(apiKey)), apiKey }),
      ...(judgeBaseUrl === undefined ? {} : { judgeBaseUrl }),
      onStarted: (app) => progress.advance(app),
    });
  } finally {
    progress.stop();
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Runs `task` with a stack; the stack ends with it, however it ends. */
export async function withStack<T>(options: StartOptions, task: (stack: Stack) => Promise<T>): Promise<T> {
  let asked = 0;
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        // Whoever asks twice does not want to wait for an orderly end.
        if (asked++ > 0) killEverything();
        reject(new Interrupted(signal));
      });
    }
  });
  // A terminal that was closed takes no more lines.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  interrupted.catch(() => undefined);
  const starting = startStack(options);
  try {
    const stack = await Promise.race([starting, interrupted]);
    return await Promise.race([task(stack), interrupted]);
  } finally {
    await starting.then(
      async (stack) => {
        say('Stopping…');
        await stack.stop();
      },
      () => undefined,
    );
  }
}

/** A person or a supervisor ended the program. */
export class Interrupted extends Error {
  constructor(readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    super(signal);
  }
}
