/** Why a request came to nothing, in as few words as there are: the innermost cause that has a code, else its message. */
export function reasonOf(error: unknown): string {
  const chain: Error[] = [];
  for (let current = error; current instanceof Error && chain.length < 8; current = current.cause) chain.push(current);
  const last = chain.at(-1);
  if (!last) return String(error);
  if (chain.some(({ name }) => name === 'TimeoutError')) return 'no answer in time';
  // Of several addresses that were tried Node says nothing but their codes.
  const code = chain
    .map((cause) => (cause as NodeJS.ErrnoException).code)
    .findLast((found) => typeof found === 'string');
  return code ?? last.message;
}
