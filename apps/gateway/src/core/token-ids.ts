type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Numbers as an engine gave them; an Int32Array where they were whole numbers from the start. */
export type Numbers = readonly number[] | Int32Array;

/** An array whose entries are all numbers, or `null`. */
export const numbersOf = (value: unknown): number[] | null =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'number') ? (value as number[]) : null;

/**
 * Prompt ids of a completion or a chunk. vLLM: top level, in a stream in the first chunk of each choice. SGLang: in the choice of
 * a whole answer, or at the response level in `sglext` (docs/engine-calls.md §1).
 */
export function promptIdsIn(body: Json, choice: Json | null): Numbers | null {
  const extension = body['sglext'];
  const ids = body['prompt_token_ids'];
  if (ids instanceof Int32Array) return ids;
  return (
    numbersOf(ids) ??
    (choice && numbersOf(choice['prompt_token_ids'])) ??
    (isObject(extension) ? numbersOf(extension['input_ids']) : null)
  );
}

/** Sampled ids that stand in a choice: of the whole answer, or those that a chunk adds. */
export const choiceIds = (choice: Json): number[] | null =>
  numbersOf(choice['token_ids']) ?? numbersOf(choice['response_token_ids']) ?? numbersOf(choice['output_token_ids']);

/** All sampled ids of one choice from SGLang's `sglext`, which ends a stream and stands beside the choices of a whole answer. */
export function extensionIds(body: Json, index: number): number[] | null {
  const extension = body['sglext'];
  if (!isObject(extension) || !Array.isArray(extension['output_ids'])) return null;
  return numbersOf(extension['output_ids'][index]);
}
