/** Sends a chat completion. */
export const post = (url: string, body: object): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Asks, and takes the whole answer. @returns the turn's id, empty where it was not captured */
export async function ask(to: { readonly url: string }, messages: object[], extra: object = {}): Promise<string> {
  const response = await post(to.url, { messages, ...extra });
  expect(response.status).toBe(200);
  await response.text();
  return response.headers.get('x-hindcast-turn-id') ?? '';
}

/** Whether a gateway has all that it needs, NATS among it. */
export const connected = async ({ url }: { readonly url: string }): Promise<boolean> =>
  ((await (await fetch(`${url}/readyz`)).json()) as { degraded: string[] }).degraded.length === 0;
