/** What one request to a judge shows: which vote it asks for, the answer, the messages that came after it. */
export interface JudgeRequest {
  readonly asks: 'score' | 'hint';
  readonly answer: string;
  readonly nextState: readonly { readonly role: string; readonly text: string }[];
}

const FENCE = /<<<(ANSWER|NEXT STATE) ([0-9a-f]+)>>>\n([\s\S]*?)\n<<<END \1 \2>>>/g;
const MESSAGE_HEAD = /^\[(system|developer|user|assistant|tool|function)(?: [^\]\n]*)?\]\n/m;

/**
 * Reads a judge prompt: the system message says what is asked, the user message fences what is quoted.
 * @returns `null` when the text is no judge prompt
 */
export function readRequest(system: string, user: string): JudgeRequest | null {
  const fenced = new Map([...user.matchAll(FENCE)].map((match) => [match[1]!, match[3]!]));
  const answer = fenced.get('ANSWER');
  const nextState = fenced.get('NEXT STATE');
  if (answer === undefined || nextState === undefined) return null;
  return { asks: system.includes('[HINT_START]') ? 'hint' : 'score', answer, nextState: messagesOf(nextState) };
}

function messagesOf(text: string): { role: string; text: string }[] {
  const messages: { role: string; text: string }[] = [];
  for (const part of text.split(/\n\n(?=\[(?:system|developer|user|assistant|tool|function)(?: [^\]\n]*)?\]\n)/)) {
    const head = MESSAGE_HEAD.exec(part);
    if (head?.index === 0) messages.push({ role: head[1]!, text: part.slice(head[0].length) });
  }
  return messages;
}
