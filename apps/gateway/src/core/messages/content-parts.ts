import { listAt, objectAt, RequestFault, stringAt, type Json } from './request-fault';

const textPart = (text: string): Json[] => (text === '' ? [] : [{ type: 'text', text }]);

/**
 * A block of a user's message or of a tool's result as parts of a chat message. `cache_control` and `citations` say nothing to an
 * engine and are left out.
 *
 * @throws RequestFault for a block that chat completions cannot express
 */
export function partsOf(value: unknown, param: string): Json[] {
  const block = objectAt(value, param);
  switch (block['type']) {
    case 'text':
      return textPart(stringAt(block['text'], `${param}.text`));
    case 'image':
      return [{ type: 'image_url', image_url: { url: imageUrl(block['source'], `${param}.source`) } }];
    case 'document':
      return documentParts(block, param);
    case 'search_result':
      return [...headParts(block, ['title', 'source']), ...partsOfList(block['content'], `${param}.content`)];
    default:
      throw new RequestFault(param, `blocks of type ${shown(block['type'])} cannot be given to this model`);
  }
}

/** A string, or blocks, as parts. @throws RequestFault */
export function partsOfContent(content: unknown, param: string): Json[] {
  return typeof content === 'string' ? textPart(content) : partsOfList(content, param);
}

const partsOfList = (content: unknown, param: string): Json[] =>
  listAt(content, param).flatMap((block, index) => partsOf(block, `${param}.${index}`));

/** Parts as the content of a message: a lone text is a string, which every engine and template takes. */
export function contentOf(parts: readonly Json[]): string | Json[] {
  if (parts.length === 0) return '';
  const [first] = parts;
  return parts.length === 1 && first!['type'] === 'text' ? (first!['text'] as string) : [...parts];
}

function imageUrl(value: unknown, param: string): string {
  const source = objectAt(value, param);
  if (source['type'] === 'url') return stringAt(source['url'], `${param}.url`);
  if (source['type'] === 'base64') return dataUrl(source, param);
  throw new RequestFault(param, `an image is given as base64 or url, not as ${shown(source['type'])}`);
}

const dataUrl = (source: Json, param: string): string =>
  `data:${stringAt(source['media_type'], `${param}.media_type`)};base64,${stringAt(source['data'], `${param}.data`)}`;

function documentParts(block: Json, param: string): Json[] {
  const at = `${param}.source`;
  const source = objectAt(block['source'], at);
  const head = headParts(block, ['title', 'context']);
  switch (source['type']) {
    case 'text':
      return [...head, ...textPart(stringAt(source['data'], `${at}.data`))];
    case 'content':
      return [...head, ...partsOfContent(source['content'], `${at}.content`)];
    case 'base64': {
      const filename = typeof block['title'] === 'string' ? block['title'] : 'document.pdf';
      return [...head, { type: 'file', file: { filename, file_data: dataUrl(source, at) } }];
    }
    default:
      throw new RequestFault(at, `a document is given as text, content or base64, not as ${shown(source['type'])}`);
  }
}

const headParts = (block: Json, fields: readonly string[]): Json[] =>
  fields.flatMap((field) => textPart(typeof block[field] === 'string' ? block[field] : ''));

export const shown = (type: unknown): string => (typeof type === 'string' ? `'${type.slice(0, 80)}'` : 'no type');
