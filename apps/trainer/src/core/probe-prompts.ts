import { z } from 'zod';

const Message = z.looseObject({ role: z.string().min(1), content: z.unknown() });

/** `probe_prompts.json`: fixed questions, each the text of a user or a whole conversation. */
export const ProbePromptsFile = z.array(z.union([z.string().min(1), z.array(Message).min(1)])).min(1);
export type ProbePromptsFile = z.infer<typeof ProbePromptsFile>;

/** Each probe prompt as a conversation. */
export function conversations(file: ProbePromptsFile): z.infer<typeof Message>[][] {
  return file.map((prompt) => (typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : prompt));
}

/** `POLICY_DIR/probe-prompts.json`: prompts of the first trained samples, as token ids, where no file of questions is given. */
export const CollectedPrompts = z.array(z.array(z.int().nonnegative()).min(1));
export type CollectedPrompts = z.infer<typeof CollectedPrompts>;

/** The collection after a batch: different prompts, the first `limit` that were ever trained on, and then no more. */
export function collectPrompts(
  collected: CollectedPrompts,
  prompts: readonly ArrayLike<number>[],
  limit: number,
): CollectedPrompts {
  const known = new Set(collected.map(String));
  const result = [...collected];
  for (const prompt of prompts) {
    const ids = Array.from(prompt);
    if (result.length >= limit) break;
    if (known.has(String(ids))) continue;
    known.add(String(ids));
    result.push(ids);
  }
  return result;
}

/** One prompt per probe answer, going round when there are fewer prompts than answers. */
export function promptsForAnswers<Prompt>(prompts: readonly Prompt[], answers: number): Prompt[] {
  if (prompts.length === 0) return [];
  return Array.from({ length: answers }, (_, i) => prompts[i % prompts.length]!);
}
