import type { AdamW } from './adam-w';
import type { Progress } from './checkpoint';
import { learningRate } from './schedule';

/** A loss point is recorded every so many steps. */
const stepsOfPoint = 100;

/** Whatever makes a gradient at the parameters it holds. */
export interface GradientSource {
  readonly parameters: Float32Array;
  step(): Promise<{ readonly loss: number; readonly tokens: number; readonly gradient: Float32Array }>;
}

export interface PretrainOptions {
  readonly source: GradientSource;
  readonly optimizer: AdamW;
  readonly tokenBudget: number;
  readonly progress: Progress;
  /** A clock, in milliseconds. */
  readonly now: () => number;
  /** After every step; awaited. */
  readonly afterStep: (loss: number) => void | Promise<void>;
  /** Asked before every step; true interrupts the run. */
  readonly isInterrupted: () => boolean;
}

/** Takes steps until the token budget is used or the run is interrupted. Changes the source's parameters, the optimizer and `progress`. */
export async function pretrain(options: PretrainOptions): Promise<void> {
  const { source, optimizer, tokenBudget, progress } = options;
  let losses: number[] = [];
  while (progress.tokens < tokenBudget && !options.isInterrupted()) {
    const began = options.now();
    const rate = learningRate(optimizer.steps, progress.tokens, tokenBudget);
    const { loss, tokens, gradient } = await source.step();
    optimizer.step(source.parameters, gradient, rate);
    progress.tokens += tokens;
    progress.seconds += (options.now() - began) / 1000;
    losses.push(loss);
    if (optimizer.steps % stepsOfPoint === 0 || progress.tokens >= tokenBudget) {
      const mean = losses.reduce((sum, value) => sum + value, 0) / losses.length;
      progress.curve.push({ step: optimizer.steps, tokens: progress.tokens, seconds: progress.seconds, loss: mean });
      losses = [];
    }
    await options.afterStep(loss);
  }
}
