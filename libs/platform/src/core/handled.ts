/** Handlers by subject as Nest collects them; `next` chains a second handler of the same subject. */
export type HandlerTable = ReadonlyMap<string, { readonly next?: unknown }>;

/**
 * Mistakes in what an app handles, compared with what the contracts say it handles: a subject without a handler, with two, or
 * that is not its own. Empty when both agree.
 */
export function handlerMistakes(app: string, own: readonly string[], handlers: HandlerTable): string[] {
  const mistakes: string[] = [];
  for (const subject of own) {
    const handler = handlers.get(subject);
    if (!handler) mistakes.push(`${app} has no handler for ${subject}`);
    else if (handler.next) mistakes.push(`${app} has two handlers for ${subject}`);
  }
  for (const subject of handlers.keys()) {
    if (!own.includes(subject)) mistakes.push(`${app} handles ${subject}, which the contracts do not give it`);
  }
  return mistakes;
}
