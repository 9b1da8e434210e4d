import { evalV2 } from './eval-v2';
import { hintV2 } from './hint-v2';
import type { PromptText } from './prompt-text';

/** Every prompt that votes may name, by version. A new wording is a new file and a new row; the old ones stay, for what was judged by them. */
export const published = {
  'eval-v2': evalV2,
  'hint-v2': hintV2,
} as const satisfies Record<string, PromptText>;

/** The prompts that votes are asked with. */
export const current = { eval: published['eval-v2'], hint: published['hint-v2'] } as const;
