import { fault, ok, type Finding } from './finding';

/** Names in a `GET /models` answer; `null` where it is none. */
export function listedModels(body: unknown): string[] | null {
  const data = (body as { data?: unknown } | null | undefined)?.data;
  if (!Array.isArray(data)) return null;
  return data.map((model) => (model as { id?: unknown } | null)?.id).filter((id) => typeof id === 'string');
}

interface Names {
  readonly model: string;
  readonly modelVariable: string;
  readonly keyVariable: string;
}

/** Whether a server lists the model that is asked for. @param refusal what it said, of a status other than 200 */
export function modelFinding(
  check: string,
  status: number,
  models: readonly string[] | null,
  refusal: string,
  { model, modelVariable, keyVariable }: Names,
): Finding {
  if (status === 401 || status === 403)
    return fault(check, `refuses the key (${refusal})`, `Set ${keyVariable} to a key that it takes.`);
  if (status !== 200 || models === null)
    return fault(
      check,
      `has no list of models (${refusal})`,
      'Correct the base URL: it ends in /v1, and GET …/v1/models answers.',
    );
  if (!models.includes(model))
    return fault(
      check,
      `does not list ${model}; it lists ${models.slice(0, 8).join(', ') || 'nothing'}`,
      `Set ${modelVariable} to one of these names, or start the engine with --served-model-name ${model}.`,
    );
  return ok(check, `answers and lists ${model}`);
}
