import { ANSWER_TOKENS } from './cells';

/** What a request asks of the engine, as far as it changes the answer's bytes. */
export interface Asked {
  readonly promptTokens: number;
  readonly ids: boolean;
  readonly logProbs: boolean;
  readonly usage: boolean;
  /** Tokens carry the time at which they leave the engine. */
  readonly stamped: boolean;
}

/** Bytes that are the same for every answer but for fixed-width places: the answer's id, and the time of a stamped token. */
export interface Template {
  readonly bytes: Buffer;
  readonly idOffsets: readonly number[];
  readonly stampOffset: number | null;
}

export const ID_DIGITS = 12;
/** Microseconds of the monotonic clock. */
export const STAMP_DIGITS = 16;
/** Stands before a stamp in the text of a token. */
export const STAMP_MARK = 't=';

const ID_PLACE = '#'.repeat(ID_DIGITS);
const STAMP_PLACE = '@'.repeat(STAMP_DIGITS);
const WORDS = ' The rain falls, because warm air carries water up; there it cools and comes down again'.match(
  /\s\S+/g,
)!;

const base = { id: `chatcmpl-${ID_PLACE}`, created: 1_700_000_000, model: 'seed' };

const tokenText = (index: number, stamped: boolean): string =>
  stamped ? `${STAMP_MARK}${STAMP_PLACE} ` : WORDS[index % WORDS.length]!;
const tokenId = (index: number): number => 1_000 + ((index * 7_919) % 30_000);
const tokenIndices = Array.from({ length: ANSWER_TOKENS }, (_, index) => index);

const logProb = (index: number): object => {
  const text = WORDS[index % WORDS.length]!;
  const logprob = -0.0125 - ((index * 37) % 200) / 64;
  return { token: text, logprob, bytes: [...Buffer.from(text)], top_logprobs: [] };
};

const usageOf = (promptTokens: number): object => ({
  prompt_tokens: promptTokens,
  total_tokens: promptTokens + ANSWER_TOKENS,
  completion_tokens: ANSWER_TOKENS,
  prompt_tokens_details: null,
});

const promptIds = (count: number): number[] =>
  Array.from({ length: count }, (_, index) => 1 + ((index * 104_729) % 150_000));

/** The events of a streamed answer as vLLM writes them: role, one per token (the last one with the finish reason), usage, end mark. */
export function streamTemplates(asked: Asked): Template[] {
  const event = (chunk: object): Template =>
    templateOf(`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', ...chunk })}\n\n`);
  const choice = (delta: object, index: number | null): object => ({
    index: 0,
    delta,
    logprobs: asked.logProbs && index !== null ? { content: [logProb(index)] } : null,
    finish_reason: index === ANSWER_TOKENS - 1 ? 'stop' : null,
    ...(asked.ids && { token_ids: index === null ? null : [tokenId(index)] }),
  });
  return [
    event({
      choices: [choice({ role: 'assistant', content: '' }, null)],
      ...(asked.ids && { prompt_token_ids: promptIds(asked.promptTokens) }),
    }),
    ...tokenIndices.map((index) => event({ choices: [choice({ content: tokenText(index, asked.stamped) }, index)] })),
    ...(asked.usage ? [event({ choices: [], usage: usageOf(asked.promptTokens) })] : []),
    templateOf('data: [DONE]\n\n'),
  ];
}

export function wholeTemplate(asked: Asked): Template {
  return templateOf(
    JSON.stringify({
      ...base,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: tokenIndices.map((index) => tokenText(index, false)).join('') },
          logprobs: asked.logProbs ? { content: tokenIndices.map(logProb) } : null,
          finish_reason: 'stop',
          stop_reason: null,
          ...(asked.ids && { token_ids: tokenIndices.map(tokenId) }),
        },
      ],
      usage: usageOf(asked.promptTokens),
      ...(asked.ids && { prompt_token_ids: promptIds(asked.promptTokens) }),
    }),
  );
}

function templateOf(text: string): Template {
  const bytes = Buffer.from(text);
  const stamp = bytes.indexOf(STAMP_PLACE);
  return { bytes, idOffsets: placesOf(bytes, ID_PLACE), stampOffset: stamp < 0 ? null : stamp };
}

function placesOf(bytes: Buffer, place: string): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(place); at >= 0; at = bytes.indexOf(place, at + place.length)) found.push(at);
  return found;
}

/** Puts templates together, each in a frame of HTTP's chunked coding: separate events to the reader, one write to the writer. */
export function framed(templates: readonly Template[]): Template {
  const pieces: Buffer[] = [];
  const idOffsets: number[] = [];
  let length = 0;
  const add = (piece: Buffer): void => {
    pieces.push(piece);
    length += piece.length;
  };
  for (const { bytes, idOffsets: own } of templates) {
    add(Buffer.from(`${bytes.length.toString(16)}\r\n`));
    idOffsets.push(...own.map((offset) => length + offset));
    add(bytes);
    add(Buffer.from('\r\n'));
  }
  add(Buffer.from('0\r\n\r\n'));
  return { bytes: Buffer.concat(pieces), idOffsets, stampOffset: null };
}
