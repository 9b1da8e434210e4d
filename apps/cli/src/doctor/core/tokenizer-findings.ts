import type { ProbeAnswer } from './engine-answer';
import { fault, ok, skipped, warning, type Finding } from './finding';

/** Texts whose ids tell vocabularies apart: scripts, code, white space, digits, marks. */
export const VOCABULARY_PROBES: readonly string[] = [
  'The quick brown fox re-tokenizes "antidisestablishmentarian"; naïvely, or not…',
  'Größe, façade, Привет, Ωμέγα, שלום, नमस्ते, 你好，世界 😀👍🏽',
  'def f(x: int) -> int:\n\treturn x**2  # ok\n\n    {"k": [1, null, true]}',
  '0 1 12 123 1234 12345 3.14159 1,000,000 0x1F 2026-11-30',
  '<|im_start|>user<|im_end|><|endoftext|><|eot_id|><s></s>[INST]',
];

/** @param difference in words; `null`: none; `undefined`: the engine has no `/tokenize` */
export function vocabularyFinding(
  check: string,
  folder: string,
  variable: string,
  difference: string | null | undefined,
): Finding {
  if (difference === undefined) return skipped(check, 'not compared: the engine has no /tokenize');
  if (difference === null) return ok(check, `the engine and ${folder} give the same ids`);
  return fault(
    check,
    `another one than that of ${folder}: ${difference}`,
    `Set ${variable} to the folder of the model that the engine serves, or serve that model: ids that mean other tokens must not be trained.`,
  );
}

/** The prompt that the engine made of the probe's messages against the folder's template. */
export function templateFinding(
  check: string,
  variable: string,
  answer: ProbeAnswer,
  local: readonly number[],
): Finding {
  const isSame = answer.promptIds
    ? answer.promptIds.length === local.length && answer.promptIds.every((id, t) => id === local[t])
    : answer.promptTokens === local.length;
  if (!answer.promptIds && answer.promptTokens === null)
    return skipped(check, 'not compared: the engine says nothing of its prompt');
  if (isSame) return ok(check, `makes the prompt that the one of ${variable} makes, ${local.length} tokens`);
  const found = `makes another prompt than the one of ${variable} (${answer.promptIds?.length ?? answer.promptTokens ?? '?'} and ${local.length} tokens)`;
  const mend = `Serve the model with the template of ${variable} (vLLM, SGLang: --chat-template), or put the engine's into that folder as chat_template.jinja.`;
  // Without prompt ids of its own the gateway makes them by this template, and refuses the turn when the count is another one.
  return variable === 'POLICY_TOKENIZER_DIR' && !answer.promptIds
    ? fault(check, found, mend)
    : warning(check, found, mend);
}

/** The prompt of an answer against what `/tokenize` makes of the same messages. */
export function promptFinding(
  check: string,
  answered: readonly number[],
  tokenized: readonly number[] | null,
): Finding {
  if (tokenized === null)
    return fault(
      check,
      'does not take messages: no turn gets a teacher (refused-by-engine)',
      'Update the engine to one whose /tokenize takes messages, or set METHOD=binary-rl, which needs no teacher.',
    );
  if (answered.length === tokenized.length && answered.every((id, t) => id === tokenized[t]))
    return ok(check, 'makes the prompt that the answer had');
  return fault(
    check,
    'makes another prompt than the answer had: no turn gets a teacher (template-mismatch)',
    'Give the engine one chat template for both (--chat-template), and no option that changes the prompt of answers alone.',
  );
}
