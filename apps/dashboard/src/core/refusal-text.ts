/** Why the gateway did not take a key, in words for a person; other failures speak for themselves. */
export function refusalText({ status, message }: { readonly status: number; readonly message: string }): string {
  if (status === 401) return 'The gateway does not know this key.';
  if (status === 403) return 'The gateway knows this key, but it is no administrator’s.';
  return message;
}
