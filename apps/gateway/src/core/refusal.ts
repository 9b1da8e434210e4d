import type { UntrainableReason } from '@hindcast/contracts';

/** Why an answer's ids cannot be known. */
export interface Refusal {
  readonly reason: UntrainableReason;
  readonly detail: string;
}

export const isRefusal = (value: object): value is Refusal => 'reason' in value;
export const refusal = (reason: UntrainableReason, detail: string): Refusal => ({ reason, detail });
