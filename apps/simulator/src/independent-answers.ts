import {
  ChatTemplate,
  forwardHidden,
  loadTokenizer,
  logits,
  mergeLora,
  mulberry32,
  readModelConfig,
  readModelWeights,
  readPeftAdapter,
  sampleToken,
  type HostTensor,
} from '@hindcast/language-model';
import { CompiledFunction } from '@hindcast/tfjs-onnx';
import * as tf from '@tensorflow/tfjs';
import type { Answer } from './core/user';

/** Rows of one forward pass. */
const BATCH = 16;
/** Sequence lengths that a graph is recorded for, tokens. */
const BUCKETS = [48, 64, 96, 128, 192, 256] as const;

/** Asks for one answer: what is asked, and the seed that its tokens are drawn with. */
export interface Prompt {
  readonly text: string;
  readonly seed: number;
}

/**
 * Answers at temperature 1 by a model directory and a PEFT directory alone: no engine, no service, no KV cache. Each token is drawn as
 * apps/engine draws it (`mulberry32(seed)`, one number per token), so that the two can be compared answer by answer.
 */
export async function answersOf(options: {
  readonly modelDir: string;
  /** `null` for the model as it is. */
  readonly adapterDir: string | null;
  readonly prompts: readonly Prompt[];
  readonly maxTokens: number;
  readonly onAnswer?: () => void;
}): Promise<Answer[]> {
  const config = await readModelConfig(options.modelDir);
  const base = await readModelWeights(options.modelDir, config);
  const adapter = options.adapterDir === null ? null : await readPeftAdapter(options.adapterDir, config);
  const weights = adapter === null ? base : mergeLora(base, adapter.tensors, adapter.scale);
  const tokenizer = await loadTokenizer(options.modelDir);
  const template = await ChatTemplate.load(options.modelDir);

  const next = new CompiledFunction(
    ({ tokenIds, isLast, ...rest }: Record<string, tf.Tensor>) => {
      const hidden = forwardHidden(config, rest, tokenIds as tf.Tensor2D);
      const last = tf.sum(tf.mul(hidden, tf.expandDims(isLast!, 2)), 1);
      return { logits: logits(config, rest, last) };
    },
    { name: 'next token' },
  );
  const inputs = Object.fromEntries(weights) as Record<string, HostTensor>;

  const answers: Answer[] = [];
  try {
    for (let start = 0; start < options.prompts.length; start += BATCH) {
      const rows = options.prompts.slice(start, start + BATCH).map(({ text, seed }) => ({
        ids: tokenizer.encode(template.render([{ role: 'user', content: text }], { addGenerationPrompt: true }), {
          addSpecialTokens: false,
        }),
        answer: [] as number[],
        uniform: mulberry32(seed),
        done: false,
      }));
      while (rows.some((row) => !row.done)) {
        const longest = Math.max(...rows.map((row) => row.ids.length));
        const length = BUCKETS.find((bucket) => bucket >= longest);
        if (length === undefined) throw new RangeError(`a sequence of ${longest} tokens is too long`);
        const tokenIds = new Int32Array(BATCH * length);
        const isLast = new Float32Array(BATCH * length);
        for (const [i, row] of rows.entries()) {
          tokenIds.set(row.ids, i * length);
          isLast[i * length + row.ids.length - 1] = 1;
        }
        const output = await next.run({
          ...inputs,
          tokenIds: { dtype: 'int32', shape: [BATCH, length], data: tokenIds },
          isLast: { dtype: 'float32', shape: [BATCH, length], data: isLast },
        });
        const all = output['logits']!.data as Float32Array;
        for (const [i, row] of rows.entries()) {
          if (row.done) continue;
          const { id } = sampleToken(all.subarray(i * config.vocabSize, (i + 1) * config.vocabSize), {}, row.uniform);
          row.ids.push(id);
          row.answer.push(id);
          row.done = config.eosTokenIds.includes(id) || row.answer.length === options.maxTokens;
          if (row.done) options.onAnswer?.();
        }
      }
      for (const { answer } of rows) {
        const ended = config.eosTokenIds.includes(answer.at(-1)!);
        const ids = ended ? answer.slice(0, -1) : answer;
        answers.push({ text: tokenizer.decode(ids, { skipSpecialTokens: true }), tokens: ids.length, ended });
      }
    }
    return answers;
  } finally {
    await next.dispose();
  }
}
