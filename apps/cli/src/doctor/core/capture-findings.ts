import type { ProbeAnswer } from './engine-answer';
import { fault, ok, warning, type Finding } from './finding';

export type Dialect = 'vllm' | 'sglang' | 'openai';

/** −∞, and what vLLM writes for it, are no log-probs of a token that was sampled. */
const LEAST = -9999;
/** A log-softmax in float32 may exceed 0 by rounding. */
const ROUNDING = 1e-3;

const IDS_MEND: Readonly<Record<Dialect, string>> = {
  vllm: 'Update vLLM to a version that knows return_token_ids; is it another server, set POLICY_DIALECT=sglang, or POLICY_DIALECT=openai with POLICY_TOKENIZER_DIR.',
  sglang:
    'Update SGLang to 0.5.20 or newer, which gives the ids in sglext; is it another server, set POLICY_DIALECT=vllm, or POLICY_DIALECT=openai with POLICY_TOKENIZER_DIR.',
  openai:
    'Set POLICY_TOKENIZER_DIR to a folder with the served model’s tokenizer.json, so that the ids are found from the bytes.',
};

/**
 * Whether an answer holds what a capture needs.
 *
 * @param check the engine's name in the report
 * @param recoversIds of the `openai` dialect: POLICY_TOKENIZER_DIR is set
 */
export function captureFindings(check: string, answer: ProbeAnswer, dialect: Dialect, recoversIds: boolean): Finding[] {
  return [
    idsFinding(`${check}: token ids`, answer, dialect, recoversIds),
    logProbsFinding(`${check}: log-probs`, answer),
  ];
}

function idsFinding(
  check: string,
  { ids, promptIds, logProbs }: ProbeAnswer,
  dialect: Dialect,
  recoversIds: boolean,
): Finding {
  if (dialect === 'openai') {
    if (recoversIds) return ok(check, 'found from the bytes, through POLICY_TOKENIZER_DIR');
    return warning(
      check,
      'a server of the openai dialect gives none: every turn is untrainable (no-token-ids)',
      IDS_MEND.openai,
    );
  }
  if (ids === null || ids.length === 0)
    return fault(check, 'none with the answer: every turn is untrainable (no-token-ids)', IDS_MEND[dialect]);
  if (promptIds === null || promptIds.length === 0)
    return fault(check, 'none of the prompt: every turn is untrainable (no-prompt-ids)', IDS_MEND[dialect]);
  if (logProbs !== null && logProbs.length !== ids.length)
    return fault(
      check,
      `${ids.length} ids, but ${logProbs.length} log-probs: turns are untrainable (length-mismatch)`,
      'Switch off what makes the engine leave tokens out of its log-probs (for SGLang give it --reasoning-parser and --tool-call-parser), or update it.',
    );
  return ok(check, `of prompt (${promptIds.length}) and answer (${ids.length})`);
}

function logProbsFinding(check: string, { logProbs }: ProbeAnswer): Finding {
  if (logProbs === null || logProbs.length === 0)
    return fault(
      check,
      'none: every turn is untrainable (no-log-probs)',
      'Let the engine give log-probs of the sampled tokens (vLLM: --max-logprobs 1 or more; llama.cpp and others: a version that knows logprobs).',
    );
  const known = logProbs.filter((value) => value !== null);
  if (known.length < logProbs.length || known.some((value) => !Number.isFinite(value) || value <= LEAST))
    return fault(
      check,
      'some are missing or infinite: turns are untrainable (non-finite-log-probs)',
      'Switch off what masks tokens after the log-probs were taken (guided decoding, bad words, processed log-probs with top-k).',
    );
  const positive = known.find((value) => value > ROUNDING);
  if (positive !== undefined)
    return fault(
      check,
      `${positive} is above 0: these are logits, and no log-probs`,
      'Start vLLM with --logprobs-mode raw_logprobs (or without the option).',
    );
  return ok(check, 'finite, of every sampled token');
}
