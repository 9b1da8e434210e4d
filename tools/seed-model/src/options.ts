import { Command, InvalidArgumentError } from 'commander';

/** What the command line asks for. */
export interface Options {
  readonly out: string;
  readonly work: string;
  readonly tokens: number;
  readonly seed: number;
  readonly workers: number;
  readonly questions: number;
  readonly anyQuality: boolean;
}

/** Reads the command line; prints help or a mistake and ends the process where there is nothing to do. */
export function readOptions(argv: readonly string[]): Options {
  return new Command('seed-model')
    .description(
      'Makes the seed model from nothing: generates conversations, learns a tokenizer, pre-trains a small LLaMA on the CPU, ' +
        'asks it questions it never saw, and writes it with a report as a Hugging Face directory. An interrupted run ' +
        'with the same settings continues at its last checkpoint.',
    )
    .option('--out <dir>', 'where the finished model goes', 'models/seed')
    .option('--work <dir>', 'checkpoint and unfinished model', '.data/seed-model')
    .option('--tokens <count>', 'tokens to train on', positiveInteger, 30_000_000)
    .option('--seed <number>', 'seed of weights and conversations', integer, 0)
    .option('--workers <count>', 'training threads; another count is another model', positiveInteger, 2)
    .option('--questions <count>', 'questions for each row of the report', positiveInteger, 500)
    .option('--any-quality', 'write the model even if it misses its goals', false)
    .parse(argv)
    .opts<Options>();
}

function integer(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new InvalidArgumentError('It must be a whole number.');
  return number;
}

function positiveInteger(value: string): number {
  const number = integer(value);
  if (number < 1) throw new InvalidArgumentError('It must be at least 1.');
  return number;
}
