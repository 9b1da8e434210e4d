import { responseFormat, structuredRule } from './structured';
import type { VoteKind } from './vote';

/** A prompt as a chat completion's two messages; `user` holds the quoted material. */
export interface Prompt {
  readonly system: string;
  readonly user: string;
}

export interface Sampling {
  readonly model: string;
  readonly temperature: number;
  readonly maxTokens: number;
}

/** Body of `POST /chat/completions` for a vote, JSON. */
export function questionBody(kind: VoteKind, prompt: Prompt, sampling: Sampling, structured: boolean): string {
  return JSON.stringify({
    model: sampling.model,
    messages: [
      { role: 'system', content: prompt.system },
      // After the prompt's own last words, which ask for a box.
      { role: 'user', content: structured ? `${prompt.user}\n\n${structuredRule[kind]}` : prompt.user },
    ],
    temperature: sampling.temperature,
    max_tokens: sampling.maxTokens,
    ...(structured && { response_format: responseFormat(kind) }),
  });
}
