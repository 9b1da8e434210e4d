import { fault, ok, type Finding } from './finding';

const MEND = {
  vllm: 'Start vLLM with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True, --enable-lora, and --max-lora-rank of at least LORA_RANK.',
  sglang: 'Start SGLang with --enable-lora, --max-lora-rank of at least LORA_RANK, and --lora-target-modules all.',
} as const;

/**
 * What an engine says when it is asked to load an adapter from a folder that is not there. One that could load it looks for the folder;
 * one that could not has no such call, or says that adapters are off.
 */
export function adapterFinding(check: string, dialect: 'vllm' | 'sglang', status: number, text: string): Finding {
  const hasNoCall =
    status === 405 ||
    (status === 404 && /^\s*\{\s*"(detail|message)"\s*:\s*"(Not Found|Cannot POST[^"]*)"/.test(text)) ||
    text.trim() === '';
  if (hasNoCall)
    return fault(check, 'cannot be loaded while it serves: no step would ever be published', MEND[dialect]);
  if (/lora.{0,40}(not|is n't) enabled|enable[-_]lora/i.test(text))
    return fault(check, 'LoRA is off: no step would ever be published', MEND[dialect]);
  if (status === 401 || status === 403)
    return fault(
      check,
      `loading is refused (status ${status})`,
      'Set POLICY_API_KEY of the trainer to a key that the engine takes.',
    );
  return ok(check, 'can be loaded while it serves');
}
