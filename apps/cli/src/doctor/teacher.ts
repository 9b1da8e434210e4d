import type { EngineLook } from './engine';
import { PROBE_MESSAGES, engineAway } from './engine';
import { fault, ok, skipped, type Finding } from './core/finding';
import { listedModels, modelFinding } from './core/model-findings';
import { Unreachable, call, refusalOf, rootOf, type Server } from './http';
import { scoreIds } from './scoring';
import { startOf, type Settings } from './settings';
import { engineEncoder, firstDifference } from './tokenizer';

/** Whether each teacher scores given ids, and has the policy's vocabulary. */
export async function checkTeachers(settings: Settings, policy: EngineLook | undefined): Promise<Finding[]> {
  const { teacher, trainer } = settings;
  if (trainer.METHOD === 'binary-rl' || trainer.METHOD === 'none')
    return [skipped('teacher', `METHOD=${trainer.METHOD} needs none`)];
  const dialect = teacher.TEACHER_DIALECT ?? teacher.POLICY_DIALECT;
  if (dialect === 'openai')
    return [
      fault(
        'teacher',
        'a server of the openai dialect cannot score given ids',
        'Set TEACHER_BASE_URL, TEACHER_MODEL and TEACHER_DIALECT (vllm or sglang) to an engine with the same base model, or METHOD=binary-rl.',
      ),
    ];
  const urls = teacher.TEACHER_BASE_URL ?? teacher.POLICY_BASE_URL;
  return (await Promise.all(urls.map((url) => checkTeacher(url, settings, dialect, policy)))).flat();
}

async function checkTeacher(
  baseUrl: string,
  settings: Settings,
  dialect: 'vllm' | 'sglang',
  policy: EngineLook | undefined,
): Promise<Finding[]> {
  const { teacher } = settings;
  const check = `teacher ${baseUrl}`;
  const server: Server = { baseUrl, key: teacher.TEACHER_API_KEY ?? teacher.POLICY_API_KEY };
  const asked = teacher.TEACHER_MODEL ?? teacher.POLICY_MODEL;
  // The version that serves is an adapter of the base model.
  const model = asked === 'current' ? teacher.POLICY_MODEL : asked;
  try {
    const list = await call(server, `${baseUrl}/models`);
    const listed = modelFinding(check, list.status, listedModels(list.json), refusalOf(list), {
      model,
      modelVariable: 'TEACHER_MODEL',
      keyVariable: 'TEACHER_API_KEY',
    });
    if (listed.grade === 'fault') return [listed];
    const isPolicy = baseUrl === policy?.server.baseUrl && model === teacher.POLICY_MODEL;
    return [
      listed,
      await scoring(`${check}: scoring`, server, { model, dialect }),
      ...(isPolicy || !policy
        ? []
        : [await vocabulary(`${check}: vocabulary`, server, model, policy, teacher.POLICY_MODEL)]),
    ];
  } catch (error) {
    if (error instanceof Unreachable)
      return [
        engineAway(
          check,
          error.message,
          'TEACHER_BASE_URL (default: POLICY_BASE_URL)',
          startOf(settings, 'engine', baseUrl),
        ),
      ];
    throw error;
  }
}

async function scoring(
  check: string,
  server: Server,
  { model, dialect }: { readonly model: string; readonly dialect: 'vllm' | 'sglang' },
): Promise<Finding> {
  const prompt = { model, messages: PROBE_MESSAGES, add_generation_prompt: true };
  const reply = await call(server, `${rootOf(server.baseUrl)}/tokenize`, prompt);
  const tokens = (reply.json as { tokens?: unknown } | undefined)?.tokens;
  const mend =
    dialect === 'vllm'
      ? 'Update vLLM, and switch /tokenize and prompt_logprobs on; or set TEACHER_DIALECT to what the engine is.'
      : 'Update SGLang to one whose /tokenize takes messages; or set TEACHER_DIALECT to what the engine is.';
  if (reply.status !== 200 || !Array.isArray(tokens) || tokens.length < 2)
    return fault(check, `/tokenize does not take messages (${refusalOf(reply)}): no turn gets a teacher`, mend);
  const ids = tokens as number[];
  const { logProbs, why } = await scoreIds(server, { model, dialect }, ids.slice(0, -1), ids.slice(-1));
  if (logProbs === null) return fault(check, `no log-probs of given ids (${why}): no turn gets a teacher`, mend);
  return ok(check, 'gives log-probs of given ids');
}

async function vocabulary(
  check: string,
  server: Server,
  model: string,
  policy: EngineLook,
  policyModel: string,
): Promise<Finding> {
  const difference = await firstDifference(engineEncoder(policy.server, policyModel), engineEncoder(server, model));
  if (difference === undefined) return skipped(check, 'not compared: one of the two has no /tokenize');
  if (difference === null) return ok(check, "the policy's");
  return fault(
    check,
    `another one than the policy's: ${difference}`,
    'Set TEACHER_MODEL to a model with the same tokenizer: turns get no teacher otherwise (vocabulary-mismatch).',
  );
}
