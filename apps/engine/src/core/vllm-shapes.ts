/** A model as `/v1/models` lists it. */
export interface ModelCard {
  readonly id: string;
  /** Directory of its weights. */
  readonly root: string;
  /** The base model of an adapter. */
  readonly parent: string | null;
  readonly created: number;
  /** Adapters say nothing about it, as in vLLM. */
  readonly maxModelLength: number | null;
  /** Whole weights may be loaded beside it under names of their own (`/v1/load_weights`); vLLM's list has nothing of the kind. */
  readonly loadsWeights?: boolean;
}

/** The body of `/v1/models`. */
export function modelList(cards: readonly ModelCard[]): object {
  return {
    object: 'list',
    data: cards.map(({ id, root, parent, created, maxModelLength, loadsWeights }) => ({
      id,
      object: 'model',
      created,
      owned_by: 'vllm',
      root,
      parent,
      max_model_len: maxModelLength,
      ...(loadsWeights && { loads_weights: true }),
      permission: [
        {
          id: `modelperm-${id}`,
          object: 'model_permission',
          created,
          allow_create_engine: false,
          allow_sampling: true,
          allow_logprobs: true,
          allow_search_indices: false,
          allow_view: true,
          allow_fine_tuning: false,
          organization: '*',
          group: null,
          is_blocking: false,
        },
      ],
    })),
  };
}
