import { fault, skipped, type Finding } from './core/finding';
import { adapterFinding } from './core/adapter-findings';
import { Unreachable, call, rootOf } from './http';
import type { Settings } from './settings';

/** A name and a folder that no engine has: the call comes as far as it can without changing anything. */
const NOBODY = { lora_name: 'hindcast-doctor', lora_path: '/nonexistent/hindcast-doctor' };

/** Whether each engine that the trainer publishes to takes adapters while it serves. */
export async function checkAdapters({ trainer }: Settings): Promise<Finding[]> {
  const { METHOD, TUNING, POLICY_BASE_URL, POLICY_DIALECT: dialect, POLICY_API_KEY: key } = trainer;
  if (METHOD === 'none') return [skipped('adapters', 'METHOD=none: nothing is published')];
  if (TUNING === 'full')
    return [skipped('adapters', 'TUNING=full: whole weights are replaced, see docs/publication.md')];
  if (dialect === 'openai')
    return [
      fault(
        'adapters',
        'a server of the openai dialect takes none: the trainer does not start',
        'Set POLICY_DIALECT and POLICY_BASE_URL of the trainer to a vLLM or SGLang with the same model, or METHOD=none.',
      ),
    ];
  return await Promise.all(
    POLICY_BASE_URL.map(async (baseUrl) => {
      const check = `engine ${baseUrl}: adapters`;
      try {
        const place = dialect === 'sglang' ? rootOf(baseUrl) : baseUrl;
        const { status, text } = await call({ key }, `${place}/load_lora_adapter`, NOBODY);
        return adapterFinding(check, dialect, status, text);
      } catch (error) {
        if (error instanceof Unreachable) return skipped(check, 'the engine does not answer');
        throw error;
      }
    }),
  );
}
