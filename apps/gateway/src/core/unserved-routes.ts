/** Paths below `/v1` that OpenAI's API documents and Hindcast does not serve (API reference, platform.openai.com). */
const UNSERVED = [
  'assistants',
  'audio',
  'batches',
  'chatkit',
  'containers',
  'conversations',
  'evals',
  'files',
  'fine_tuning',
  'images',
  'moderations',
  'organization',
  'projects',
  'realtime',
  'skills',
  'threads',
  'uploads',
  'vector_stores',
  'videos',
];

/**
 * What to tell a client that asks for a documented route which is not served; `null` for any other path. Stored chat completions
 * are documented too: everything about chat completions except asking for one.
 *
 * @param url path with or without a query
 */
export function unservedRoute(method: string, url: string): string | null {
  const [, version, family, ...rest] = url.split('?', 1)[0]!.split('/');
  if (version !== 'v1' || family === undefined) return null;
  const isStoredChat =
    family === 'chat' && rest[0] === 'completions' && (rest.length > 1 || !['POST', 'OPTIONS'].includes(method));
  const isModelChange = family === 'models' && method === 'DELETE';
  if (!UNSERVED.includes(family) && !isStoredChat && !isModelChange) return null;
  return `Hindcast does not serve ${method} /${[version, family, ...rest].join('/')}; see /docs for what it serves`;
}
