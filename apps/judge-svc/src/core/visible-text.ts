const THINKING = /<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/gi;
const OPENED = /<think(?:ing)?>/i;
const CLOSED = /^[\s\S]*<\/think(?:ing)?>/i;

/**
 * What a judge says once its thinking is cut out. Where a chat template opened the thinking in the prompt, the reply has only its end,
 * and everything before that end is thinking too.
 * @returns `null` when the thinking never ended: there is no decision then, only drafts of one
 */
export function visibleText(reply: string): string | null {
  const visible = reply.replace(THINKING, '').replace(CLOSED, '');
  return OPENED.test(visible) ? null : visible.trim();
}
