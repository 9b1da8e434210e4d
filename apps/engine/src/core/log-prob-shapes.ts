import type { RankedToken, TokenScore } from './token-score';
import { tokenString, type TokenText } from './token-text';

/** −∞ is not JSON; vLLM writes this instead. */
const MINUS_INFINITY = -9999;

const finite = (logProb: number): number => Math.max(logProb, MINUS_INFINITY);

/** `logprobs` of a chat choice or chunk, for the tokens in it. */
export function chatLogProbs(text: TokenText, scores: readonly TokenScore[], asId: boolean): object {
  const entry = ({ id, logProb }: RankedToken) => ({
    token: tokenString(text, id, asId),
    logprob: finite(logProb),
    // The token's own bytes, also where they are half a character: joined, they are the text.
    bytes: Array.from(text.tokenBytes(id)),
  });
  return { content: scores.map((score) => ({ ...entry(score), top_logprobs: score.top.map(entry) })) };
}

/** `logprobs` of a completion choice or chunk. A null score is the first token of an echoed prompt. */
export function completionLogProbs(
  text: TokenText,
  tokens: readonly { readonly id: number; readonly score: TokenScore | null }[],
  asId: boolean,
  startOffset: number,
): { shape: object; endOffset: number } {
  const shape = {
    text_offset: [] as number[],
    token_logprobs: [] as (number | null)[],
    tokens: [] as string[],
    top_logprobs: [] as (Record<string, number> | null)[],
  };
  let endOffset = startOffset;
  for (const { id, score } of tokens) {
    const token = tokenString(text, id, asId);
    shape.text_offset.push(endOffset);
    endOffset += token.length;
    shape.tokens.push(token);
    shape.token_logprobs.push(score && finite(score.logProb));
    // The token itself comes first, then the likeliest ones.
    shape.top_logprobs.push(
      score &&
        Object.fromEntries(
          [score, ...score.top].map((ranked) => [tokenString(text, ranked.id, asId), finite(ranked.logProb)]),
        ),
    );
  }
  return { shape, endOffset };
}

/**
 * `prompt_logprobs`: null for the first token, then by id the token itself and the `count` likeliest ones. A token that is among them has
 * its rank there, so that the ranks 1 to `count` occur once each also where tokens are equally likely.
 */
export function promptLogProbs(text: TokenText, scores: readonly TokenScore[], count: number): (object | null)[] {
  const entry = ({ logProb }: RankedToken, rank: number, id: number) => ({
    logprob: finite(logProb),
    rank,
    decoded_token: tokenString(text, id, false),
  });
  return [
    null,
    ...scores.map((score) => ({
      [score.id]: entry(score, score.rank, score.id),
      ...Object.fromEntries(score.top.slice(0, count).map((ranked, i) => [ranked.id, entry(ranked, i + 1, ranked.id)])),
    })),
  ];
}
