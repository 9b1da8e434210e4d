import type { VoteKind } from './vote';

/** What a reply decides. A hint vote cannot say 0. */
export interface StructuredVote {
  readonly score: -1 | 0 | 1;
  readonly hint: string;
}

const SCORES = { eval: [-1, 0, 1], hint: [-1, 1] } as const;

/**
 * `response_format` of a chat completion: OpenAI's structured outputs, which vLLM and SGLang take as well. Every property is required
 * and no other is allowed, as `strict` demands.
 */
export function responseFormat(kind: VoteKind): object {
  const properties = {
    reasoning: { type: 'string' },
    score: { type: 'integer', enum: SCORES[kind] },
    ...(kind === 'hint' && { hint: { type: 'string' } }),
  };
  return {
    type: 'json_schema',
    json_schema: {
      name: `${kind}_vote`,
      strict: true,
      schema: { type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
    },
  };
}

/** Last words of a prompt beside the schema, so that the judge fills the fields with what the prompt asks for. */
export const structuredRule: Readonly<Record<VoteKind, string>> = {
  eval: `Whatever form was named above, reply with one JSON object and nothing else: "reasoning", a few sentences, then "score", one of 1, -1 and 0.`,
  hint: `Whatever form was named above, reply with one JSON object and nothing else: "reasoning", a few sentences; "score", 1 or -1; "hint", the instruction, or "" when the score is -1.`,
};

const FENCED = /^```(?:json)?\s*\n([\s\S]*?)\n?```$/;

/**
 * The decision of a structured reply: the whole text is one JSON object with exactly the fields that were asked for. A fence around it
 * is taken off, as models that are not held to the schema like to add one.
 * @returns `null` for anything else
 */
export function parseStructured(kind: VoteKind, text: string): StructuredVote | null {
  const body = FENCED.exec(text)?.[1] ?? text;
  if (!body.startsWith('{')) return null;
  const value = parsed(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const fields = value as Record<string, unknown>;
  const wanted = kind === 'hint' ? 3 : 2;
  if (Object.keys(fields).length !== wanted || typeof fields['reasoning'] !== 'string') return null;
  const score = (SCORES[kind] as readonly unknown[]).find((allowed) => allowed === fields['score']);
  if (score === undefined) return null;
  const hint = kind === 'hint' ? fields['hint'] : '';
  return typeof hint === 'string' ? { score: score as StructuredVote['score'], hint: hint.trim() } : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
