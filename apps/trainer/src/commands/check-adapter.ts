// An adapter as PyTorch's peft loads it, against the trainer and the embedded engine: `npm run check:adapter -- ADAPTER_DIR`.
import { readFile } from 'node:fs/promises';
import {
  ChatTemplate,
  loadTokenizer,
  ModelFormatError,
  readModelConfig,
  readModelWeights,
  readPeftAdapter,
  type HostTensor,
} from '@hindcast/language-model';
import { HindcastError } from '@hindcast/contracts';
import { Command, CommanderError, Option } from 'commander';
import { BACKENDS, chooseBackend, type BackendName } from '../backends/choose-backend';
import { logProbsFunction } from '../core/policy-functions';
import { conversations, ProbePromptsFile } from '../core/probe-prompts';
import { AdapterEngine } from './adapter-engine';
import { assertPeft, peftLogProbs } from './peft-peer';

const TOLERANCE = 1e-4;
const ANSWER_TOKENS = 24;
const QUESTIONS: ProbePromptsFile = [
  'What is rain?',
  'How do I cook rice?',
  'Tell me about the moon.',
  'Please explain how a bicycle works.',
  'Sam has 12 apples and gives 5 away. How many are left?',
  'Write me a short note of thanks.',
];

export interface CheckAdapterOptions {
  readonly model: string;
  readonly adapter: string;
  readonly backend: BackendName | 'auto';
  /** File of prompts, JSON as for PROBE_PROMPTS_FILE; without it six questions. */
  readonly prompts?: string;
  /** Let the embedded engine answer and score; else the prompts alone are scored. */
  readonly engine: boolean;
  readonly python: string;
}

export interface AdapterReport {
  readonly sequences: number;
  readonly tokens: number;
  readonly backend: string;
  readonly versions: Readonly<Record<string, string>>;
  /** Transformers makes the same ids of each conversation. */
  readonly samePrompts: boolean;
  /** Largest |log π − log π of peft|, nats: of the trainer's forward pass, and of the engine's two ways. */
  readonly differences: Readonly<Record<string, number>>;
  readonly tolerance: number;
  readonly ok: boolean;
}

interface Sequence {
  readonly ids: readonly number[];
  /** What the engine says, of every id but the first. */
  readonly scored: readonly number[] | null;
  /** What it said when it sampled the last of the ids. */
  readonly decoded: readonly number[] | null;
}

/** @throws HindcastError for a Python or an engine that cannot be used; ModelFormatError for a model or an adapter */
export async function checkAdapter(options: CheckAdapterOptions, say: (line: string) => void): Promise<AdapterReport> {
  const { model, adapter, python } = options;
  // What is wrong with the folders is better known before minutes are spent.
  await readPeftAdapter(adapter, await readModelConfig(model));
  assertPeft(python);
  const asked = conversations(await readPrompts(options.prompts)) as { role: string; content: string }[][];
  const [tokenizer, template] = [await loadTokenizer(model), await ChatTemplate.load(model)];
  const prompts = asked.map((messages) => tokenizer.encode(template.render(messages)));
  say(options.engine ? 'The engine answers…' : 'Prompts only, without the engine…');
  const sequences = options.engine ? await answered(model, adapter, prompts) : prompts.map(promptOnly);
  say('The trainer’s forward pass…');
  const { logProbs: ours, backend } = await trainerLogProbs(options, sequences);
  say('PyTorch…');
  const peft = await peftLogProbs(python, {
    model,
    adapter,
    sequences: sequences.map(({ ids }) => ids),
    conversations: asked,
  });
  const differences: Record<string, number> = { trainer: worst(ours, peft.logProbs) };
  if (options.engine) {
    differences['engine scoring'] = worst(
      sequences.map(({ scored }) => scored!),
      peft.logProbs,
    );
    differences['engine decoding'] = worst(
      sequences.map(({ decoded }) => decoded!),
      peft.logProbs.map((row, i) => row.slice(row.length - sequences[i]!.decoded!.length)),
    );
  }
  const samePrompts = JSON.stringify(peft.prompts) === JSON.stringify(prompts);
  return {
    sequences: sequences.length,
    tokens: sequences.reduce((sum, { ids }) => sum + ids.length, 0),
    backend,
    versions: peft.versions,
    samePrompts,
    differences,
    tolerance: TOLERANCE,
    ok: samePrompts && Object.values(differences).every((difference) => difference <= TOLERANCE),
  };
}

async function readPrompts(path: string | undefined): Promise<ProbePromptsFile> {
  if (path === undefined) return QUESTIONS;
  try {
    return ProbePromptsFile.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (cause) {
    throw new HindcastError('invalid-request', `${path} is no list of prompts`, { cause });
  }
}

const promptOnly = (ids: readonly number[]): Sequence => ({ ids, scored: null, decoded: null });

async function answered(model: string, adapter: string, prompts: readonly (readonly number[])[]): Promise<Sequence[]> {
  const engine = await AdapterEngine.start(model, adapter);
  try {
    const sequences: Sequence[] = [];
    for (const [seed, prompt] of prompts.entries()) {
      const answer = await engine.sample(prompt, ANSWER_TOKENS, seed);
      const ids = [...prompt, ...answer.ids];
      sequences.push({ ids, scored: await engine.score(ids), decoded: answer.logProbs });
    }
    return sequences;
  } finally {
    engine.close();
  }
}

/** By the function that the trainer scores with, all sequences as one batch, padded on the right. */
async function trainerLogProbs(
  { model, adapter, backend: name }: CheckAdapterOptions,
  sequences: readonly Sequence[],
): Promise<{ logProbs: Float32Array[]; backend: string }> {
  const config = await readModelConfig(model);
  const base = Object.fromEntries(await readModelWeights(model, config));
  const { tensors, scale } = await readPeftAdapter(adapter, config);
  const { backend } = await chooseBackend(name, 1);
  try {
    const shape = {
      config,
      frozenNames: Object.keys(base),
      trainedNames: [...tensors.keys()],
      loraScale: scale,
      dropout: 0,
      recompute: false,
    };
    const length = Math.max(...sequences.map(({ ids }) => ids.length - 1));
    const padded = (from: number): HostTensor => {
      const data = new Int32Array(sequences.length * length);
      sequences.forEach(({ ids }, row) => data.set(ids.slice(from, ids.length - 1 + from), row * length));
      return { dtype: 'int32', shape: [sequences.length, length], data };
    };
    const compute = backend.compile('log-probs', logProbsFunction(shape), base);
    const inputs = { tokenIds: padded(0), targetIds: padded(1), ...Object.fromEntries(tensors) };
    const all = (await compute(inputs))['logProbs']!.data as Float32Array;
    const rowOf = ({ ids }: Sequence, row: number): Float32Array =>
      all.slice(row * length, row * length + ids.length - 1);
    return { logProbs: sequences.map(rowOf), backend: backend.name };
  } finally {
    await backend.dispose();
  }
}

/** The largest |a − b|; infinite where a number is missing or is none. */
function worst(rows: readonly ArrayLike<number>[], others: readonly ArrayLike<number>[]): number {
  let largest = 0;
  rows.forEach((row, i) => {
    if (row.length !== others[i]!.length) largest = Infinity;
    for (let t = 0; t < row.length; t++) {
      const difference = Math.abs(row[t]! - others[i]![t]!);
      if (!(difference <= largest)) largest = Number.isNaN(difference) ? Infinity : difference;
    }
  });
  return largest;
}

export interface Output {
  readonly print: (text: string) => void;
  readonly say: (line: string) => void;
}

/** Exit code: 0 within the tolerance, 1 beyond it, 2 for a wrong command, or what it needs is not there. */
export async function runCheckAdapter(args: readonly string[], { print, say }: Output): Promise<number> {
  const command = new Command('npm run check:adapter --')
    .description(
      [
        'Loads a PEFT adapter with the real peft over the model in transformers and compares its log-probs with those of',
        'the trainer and of the embedded engine. Needs a Python with torch, transformers and peft (HINDCAST_PYTHON, else',
        'python3): pip install -r tools/reference/requirements.txt.',
      ].join(' '),
    )
    .argument('<adapter>', 'folder of the adapter, such as a version of POLICY_DIR')
    .option('--model <folder>', 'folder of the base model', 'models/seed')
    .option('--prompts <file>', 'JSON: an array of user messages, or of arrays of messages; default: six questions')
    .addOption(
      new Option('--backend <name>', 'what runs the trainer’s functions')
        .choices(['auto', ...BACKENDS])
        .default('auto'),
    )
    .option('--no-engine', 'compare the trainer only, on the prompts')
    .option('--json', 'one JSON document')
    .exitOverride()
    .configureOutput({ writeOut: (text) => print(text.trimEnd()), writeErr: (text) => say(text.trimEnd()) });
  try {
    command.parse([...args], { from: 'user' });
    const { json, ...options } = command.opts<Omit<CheckAdapterOptions, 'adapter' | 'python'> & { json?: boolean }>();
    // eslint-disable-next-line no-restricted-properties -- a tool's own variable, read where the tool is
    const python = process.env['HINDCAST_PYTHON'] || 'python3';
    const report = await checkAdapter({ ...options, adapter: command.args[0]!, python }, say);
    if (json) print(JSON.stringify(report));
    else printReport(report, print);
    return report.ok ? 0 : 1;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof HindcastError || error instanceof ModelFormatError)) throw error;
    say(error.message);
    return 2;
  }
}

function printReport(report: AdapterReport, print: (text: string) => void): void {
  const versions = Object.entries(report.versions).map(([name, version]) => `${name} ${version}`);
  print(
    [
      `${report.sequences} sequences, ${report.tokens} tokens; ${versions.join(', ')}; trainer on ${report.backend}.`,
      `Prompts by transformers’ tokenizer and template: ${report.samePrompts ? 'the same ids' : 'OTHER ids'}.`,
      'Largest absolute difference of a log-prob from peft’s, nats:',
      ...Object.entries(report.differences).map(([name, value]) => `  ${name.padEnd(16)} ${value.toExponential(2)}`),
      report.ok ? `All within ${report.tolerance}.` : `Not all within ${report.tolerance}.`,
    ].join('\n'),
  );
}

if (require.main === module) {
  void runCheckAdapter(process.argv.slice(2), {
    print: (text) => void process.stdout.write(`${text}\n`),
    say: (line) => void process.stderr.write(`${line}\n`),
  }).then((code) => {
    process.exitCode = code;
  });
}
