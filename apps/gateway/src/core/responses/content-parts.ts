import { RequestRefusal, isObject, listAt, objectAt, textAt } from './request-refusal';

type Json = Record<string, unknown>;

/**
 * Content of an input message or a tool's output as chat completions know it. One text part alone becomes a plain text: not every
 * engine takes parts everywhere.
 *
 * @throws RequestRefusal
 */
export function chatContent(content: unknown, param: string): string | Json[] {
  if (typeof content === 'string') return content;
  const parts = chatParts(content, param);
  const [only] = parts;
  return parts.length === 1 && only!['type'] === 'text' ? (only!['text'] as string) : parts;
}

/** @throws RequestRefusal */
export function chatParts(content: unknown, param: string): Json[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return listAt(content, param).map((part, index) => chatPart(part, `${param}[${index}]`));
}

function chatPart(value: unknown, param: string): Json {
  const part = objectAt(value, param);
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: textAt(part['text'], `${param}.text`) };
    case 'refusal':
      return { type: 'text', text: textAt(part['refusal'], `${param}.refusal`) };
    case 'input_image':
      return imagePart(part, param);
    case 'input_file':
      return filePart(part, param);
    case 'input_audio':
      return { type: 'input_audio', input_audio: objectAt(part['input_audio'], `${param}.input_audio`) };
    default:
      throw new RequestRefusal(`${param}: parts of type ${shown(part['type'])} are not supported`, `${param}.type`);
  }
}

function imagePart(part: Json, param: string): Json {
  // Files live at OpenAI; there is no store of them here.
  if (typeof part['image_url'] !== 'string')
    throw new RequestRefusal(`${param}: an image needs its image_url; file ids are not supported`, param);
  const detail = typeof part['detail'] === 'string' ? { detail: part['detail'] } : {};
  return { type: 'image_url', image_url: { url: part['image_url'], ...detail } };
}

function filePart(part: Json, param: string): Json {
  if (typeof part['file_data'] !== 'string')
    throw new RequestRefusal(`${param}: a file needs its file_data; file ids and URLs are not supported`, param);
  const filename = typeof part['filename'] === 'string' ? { filename: part['filename'] } : {};
  return { type: 'file', file: { file_data: part['file_data'], ...filename } };
}

/** Text and refusal of an assistant message. */
export interface SaidParts {
  readonly text: string | null;
  readonly refusal: string | null;
}

/** @throws RequestRefusal */
export function saidParts(content: unknown, param: string): SaidParts {
  if (typeof content === 'string') return { text: content, refusal: null };
  let text: string | null = null;
  let refusal: string | null = null;
  listAt(content, param).forEach((value, index) => {
    const at = `${param}[${index}]`;
    const part = objectAt(value, at);
    if (part['type'] === 'refusal') refusal = (refusal ?? '') + textAt(part['refusal'], `${at}.refusal`);
    else if (part['type'] === 'output_text' || part['type'] === 'input_text' || part['type'] === 'text')
      text = (text ?? '') + textAt(part['text'], `${at}.text`);
    else throw new RequestRefusal(`${at}: an answer has no parts of type ${shown(part['type'])}`, `${at}.type`);
  });
  return { text, refusal };
}

/** Text of a reasoning item: what the model thought, or else the summary of it. */
export function reasoningText(item: Json): string {
  for (const field of ['content', 'summary']) {
    const parts = Array.isArray(item[field]) ? item[field] : [];
    const text = parts.map((part: unknown) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''));
    if (text.some((piece) => piece !== '')) return text.join('\n');
  }
  return '';
}

/** A value of the client's, short enough for a message. */
export const shown = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 60) : typeof value);
