import type { HostTensor, LoraModule } from '@hindcast/language-model';

/** The weights that training changes: LoRA matrices by PEFT name, or the model's own by Hugging Face name. */
export type TrainedWeights = ReadonlyMap<string, HostTensor & { readonly dtype: 'float32' }>;

/** Low-rank adapters beside frozen weights (Hu et al. 2021, arXiv:2106.09685). */
export interface LoraTuning {
  readonly kind: 'lora';
  /** r. */
  readonly rank: number;
  /** α: the adapter is scaled by α/r, or by α/√r when rank-stabilised. */
  readonly alpha: number;
  readonly targets: readonly LoraModule[];
  /** rsLoRA (Kalajdzievski 2023, arXiv:2312.03732). */
  readonly isRankStabilised: boolean;
  /** Share of a module's inputs that the adapter does not see in a training pass, [0, 1). */
  readonly dropout: number;
}

/** Every weight of the model. */
export interface FullTuning {
  readonly kind: 'full';
}

export type Tuning = LoraTuning | FullTuning;

/** Factor of the product of an adapter's matrices. */
export function loraScale({ rank, alpha, isRankStabilised }: LoraTuning): number {
  return alpha / (isRankStabilised ? Math.sqrt(rank) : rank);
}
