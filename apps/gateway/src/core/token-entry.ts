/** One entry of `logprobs.content`, as far as it says which token was sampled. What the server did not give is `null`. */
export interface TokenEntry {
  /** The token as text; half a character shows as U+FFFD, or as nothing. */
  readonly token: string | null;
  readonly bytes: readonly number[] | null;
  /** The server's own id (llama.cpp). */
  readonly id: number | null;
  /** Whether alternatives stand beside it; a server that lists them lists them for every token that it scored. */
  readonly hasAlternatives: boolean;
}

const isByte = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < 256;

/** The entries of `logprobs.content`; one that is no object gives nothing. */
export const tokenEntries = (content: readonly unknown[]): TokenEntry[] => content.map(tokenEntry);

function tokenEntry(value: unknown): TokenEntry {
  const entry = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const { token, bytes, id, top_logprobs: alternatives } = entry;
  return {
    token: typeof token === 'string' ? token : null,
    bytes: Array.isArray(bytes) && bytes.every(isByte) ? (bytes as number[]) : null,
    id: Number.isSafeInteger(id) ? (id as number) : null,
    hasAlternatives: Array.isArray(alternatives) && alternatives.length > 0,
  };
}
