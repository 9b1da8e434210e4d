/** What one request to a judge shows: which vote it asks for, the answer, the messages that came after it. */
export interface JudgeRequest {
  readonly asks: 'score' | 'hint';
  readonly answer: string;
  readonly nextState: readonly { readonly role: string; readonly text: string }[];
}

const FENCE = /<<<(ANSWER|NEXT STATE) ([0-9a-f]+)>>>\n([\s\S]*?)\n<<<END \1 \2>>>/g;

/**
 * Reads a judge prompt: the system message says what is asked, the user message fences what is quoted.
 * @returns `null` when the text is no judge prompt
 */
export function readRequest(system: string, user: string): JudgeRequest | null {
  const fenced = new Map([...user.matchAll(FENCE)].map((match) => [match[1]!, { mark: match[2]!, text: match[3]! }]));
  const answer = fenced.get('ANSWER');
  const nextState = fenced.get('NEXT STATE');
  if (answer === undefined || nextState === undefined) return null;
  return {
    asks: system.includes('[HINT_START]') ? 'hint' : 'score',
    answer: answer.text,
    nextState: messagesOf(nextState.text, nextState.mark),
  };
}

/** Only a line that carries the fence's mark opens a message; any other is a message's own text. */
function messagesOf(text: string, mark: string): { role: string; text: string }[] {
  const head = new RegExp(`^\\[(system|developer|user|assistant|tool|function)(?: [^\\]\\n]*)? ${mark}\\]\\n`, 'gm');
  const heads = [...text.matchAll(head)];
  return heads.map((match, i) => ({
    role: match[1]!,
    // Between two messages there is an empty line.
    text: text.slice(match.index + match[0].length, heads[i + 1] === undefined ? undefined : heads[i + 1]!.index - 2),
  }));
}
