import { createInterface } from 'node:readline/promises';
import { HindcastError } from '@hindcast/contracts';
import { painter, wholeNumber, type Terminal } from '@hindcast/platform/terminal';
import { Command, Option } from 'commander';
import { readChatInput } from '../core/chat-events';
import { safeText } from '../core/safe-text';
import { Conversation, type ChatAnswer } from '../conversation';
import type { Gateway } from '../gateway';
import { addGatewayOptions, gatewayOf, type GatewayFlags } from '../gateway-options';
import type { Screen } from '../screen';
import { giveFeedback } from './feedback';

/** No engine lists it, so that the version which serves answers to it. */
const CURRENT_MODEL = 'hindcast';
const HELP = `/good, /bad [what it should have been]   what you think of the last answer
/new   another conversation        /quit   or Ctrl-D   ends        // begins a message with a slash`;

interface Flags extends GatewayFlags {
  readonly once?: string;
  readonly lines?: boolean;
  readonly model: string;
  readonly session?: string;
  readonly system?: string;
  readonly maxTokens?: number;
}

/** `hindcast chat`: at a terminal a conversation, for scripts one answer, or one to each line. */
export const chat = (terminal: Terminal, screen: Screen): Command =>
  addGatewayOptions(
    new Command('chat').description(
      'talk to the model; each of your messages is what the answer before it is judged by',
    ),
  )
    .option('--once <text>', 'one message, one answer')
    .option(
      '--lines',
      'each line of standard input is a message of one conversation; without it all of it is one message',
    )
    .option('--model <name>', 'the version that answers; any other name is the one that serves', CURRENT_MODEL)
    .option('--session <id>', "the conversation's session, as X-Session-Id")
    .option('--system <text>', 'system message')
    .addOption(new Option('--max-tokens <n>', 'longest answer, tokens').argParser(wholeNumber(1)))
    .action(async (flags: Flags) => {
      const gateway = gatewayOf(terminal.env, flags);
      const printer = printerOf(terminal, screen, flags);
      if (flags.once !== undefined) return void (await ask(conversationOf(gateway, flags), flags.once, printer));
      if (process.stdin.isTTY && !flags.json) return await talk(gateway, flags, terminal, printer);
      const lines = flags.lines ? inputLines() : [await wholeInput()];
      const conversation = conversationOf(gateway, flags);
      for await (const line of lines) if (line.trim() !== '') await ask(conversation, line, printer);
    });

function conversationOf(gateway: Gateway, { model, session, system, maxTokens }: Flags): Conversation {
  return new Conversation(gateway, {
    model,
    ...(session !== undefined && { session }),
    ...(system !== undefined && { system }),
    ...(maxTokens !== undefined && { maxTokens }),
  });
}

interface Printer {
  readonly onText: (piece: string) => void;
  readonly onEnd: (answer: ChatAnswer) => void;
}

function printerOf(terminal: Terminal, screen: Screen, { json }: Flags): Printer {
  if (json) return { onText: () => undefined, onEnd: (answer) => terminal.print(JSON.stringify(answer)) };
  const { paint } = painter(screen.isTerminal, terminal.env);
  return {
    onText: (piece) => screen.write(screen.isTerminal ? safeText(piece) : piece),
    onEnd: ({ turnId, model, finishReason }) => {
      screen.write('\n');
      const cut = finishReason === 'length' ? ', cut by the length limit' : '';
      terminal.say(paint(`turn ${turnId ?? '(not captured)'} · ${model ?? 'model unknown'}${cut}`, 'grey'));
    },
  };
}

async function ask(
  conversation: Conversation,
  text: string,
  { onText, onEnd }: Printer,
  signal = new AbortController().signal,
): Promise<ChatAnswer> {
  const answer = await conversation.say(text, onText, signal);
  onEnd(answer);
  return answer;
}

/** Until the person has had enough. What fails is said, and the conversation goes on. */
async function talk(gateway: Gateway, flags: Flags, terminal: Terminal, printer: Printer): Promise<void> {
  const reader = createInterface({ input: process.stdin, output: process.stderr, prompt: '> ' });
  let conversation = conversationOf(gateway, flags);
  let last: ChatAnswer | null = null;
  let answering: AbortController | null = null;
  // While an answer comes Ctrl-C ends that, else the program.
  reader.on('SIGINT', () => (answering ? answering.abort(new Error('broken off')) : reader.close()));
  terminal.say(HELP);
  reader.prompt();
  for await (const line of reader) {
    const input = readChatInput(line);
    try {
      if (input.kind === 'quit') break;
      if (input.kind === 'help') terminal.say(HELP);
      if (input.kind === 'new') [conversation, last] = [conversationOf(gateway, flags), null];
      if (input.kind === 'feedback') terminal.say(await judged(gateway, last, input.reward, input.correction));
      if (input.kind === 'message') {
        answering = new AbortController();
        last = await ask(conversation, input.text, printer, answering.signal);
      }
    } catch (error) {
      terminal.say(`\n${error instanceof Error ? error.message : String(error)}`);
    }
    answering = null;
    reader.prompt();
  }
  reader.close();
}

async function judged(
  gateway: Gateway,
  last: ChatAnswer | null,
  reward: -1 | 0 | 1,
  correction: string,
): Promise<string> {
  const id = last?.turnId ?? last?.responseId;
  if (!id) return 'There is no answer yet that was captured.';
  const { status } = await giveFeedback(gateway, id, { reward, ...(correction !== '' && { correction }) });
  return status === 'accepted' ? 'Thank you.' : 'Thank you; it comes late: the turn was judged without it.';
}

const inputLines = (): AsyncIterable<string> => createInterface({ input: process.stdin });

async function wholeInput(): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString().trim();
  if (text === '')
    throw new HindcastError('invalid-request', 'nothing was said: give --once, or a message on standard input');
  return text;
}
