import type { PromptText } from './prompts/prompt-text';
import { responseFormat, structuredRule } from './structured';
import type { VoteKind } from './vote';

export interface Sampling {
  readonly model: string;
  readonly temperature: number;
  readonly maxTokens: number;
}

/** The body of a vote's request, JSON, without what it quotes: that stands between the two parts. */
export interface QuestionFrame {
  readonly before: string;
  readonly after: string;
}

/** Of `POST /chat/completions` for votes of one kind: the same for every turn. */
export function questionFrame(
  kind: VoteKind,
  { system, closing }: PromptText,
  sampling: Sampling,
  structured: boolean,
): QuestionFrame {
  const settings = JSON.stringify({
    model: sampling.model,
    temperature: sampling.temperature,
    max_tokens: sampling.maxTokens,
    ...(structured && { response_format: responseFormat(kind) }),
  });
  // The rule comes after the prompt's own last words, which ask for a box.
  const last = structured ? `\n\n${closing}\n\n${structuredRule[kind]}` : `\n\n${closing}`;
  return {
    before: `${settings.slice(0, -1)},"messages":[${JSON.stringify({ role: 'system', content: system })},{"role":"user","content":"`,
    after: `${inJson(last)}"}]}`,
  };
}

/** A text as it stands within a JSON string. */
export const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
