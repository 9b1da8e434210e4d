import { conversation, earlyWordings, random } from '@hindcast/seed-world';

/** Texts of the conversations that the tokenizer is learned from. */
export function tokenizerTexts(seed: number, conversations = 12_000): string[] {
  const rng = random(`${seed}/tokenizer`);
  return Array.from({ length: conversations }, () => conversation(rng, earlyWordings)).flatMap(({ messages }) =>
    messages.map(({ content }) => content),
  );
}
