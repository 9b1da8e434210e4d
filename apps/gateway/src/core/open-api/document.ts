import { answerSchemas } from './answers';
import { chatPaths } from './chat-paths';
import { hindcastPaths, hindcastSchemas } from './hindcast-paths';
import { messagesPaths } from './messages-paths';
import type { Paths } from './operation';
import { responsesPaths } from './responses-paths';
import type { Fields } from './schema';

export interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly components: { readonly securitySchemes: Fields; readonly schemas: Fields };
}

/** The HTTP interface of the gateway, every path with everything that it may answer (OpenAPI 3.1). */
export const openApi: OpenApi = {
  openapi: '3.1.0',
  info: {
    title: 'Hindcast gateway',
    version: '1',
    description:
      'An OpenAI-compatible endpoint that trains the model behind it. GET paths answer HEAD too. What is no readable HTTP is refused with 400 or 431 before it has a path; a path or method that is not listed is 404. Origins in CORS_ORIGINS get the usual CORS headers.',
  },
  security: [{ bearer: [] }, { apiKey: [] }, {}],
  tags: [
    { name: 'Models', description: 'What programs ask of a model. Answers are captured where that is said.' },
    { name: 'Turns', description: 'What becomes of captured answers, and what people say of them.' },
    { name: 'Operation', description: 'What runs the service asks of it. No key is needed.' },
  ],
  paths: { ...chatPaths, ...responsesPaths, ...messagesPaths, ...hindcastPaths },
  components: {
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', description: 'An API key. None is asked for where none is configured' },
      apiKey: {
        type: 'apiKey',
        in: 'header',
        name: 'x-api-key',
        description: 'The same key, as Anthropic’s clients send it',
      },
    },
    schemas: { ...answerSchemas, ...hindcastSchemas },
  },
};
