const json = (schema: object): object => ({ content: { 'application/json': { schema } } });
const error = (description: string): object => ({ description, ...json({ $ref: '#/components/schemas/Error' }) });
const messagesError = (description: string): object => ({
  description,
  ...json({ $ref: '#/components/schemas/MessagesError' }),
});
const turnIdHeader = {
  'x-hindcast-turn-id': {
    description: 'Id of the turn, on every answer that may be captured',
    schema: { type: 'string', format: 'uuid' },
  },
  'x-hindcast-turn-ids': {
    description: 'With n > 1 the ids of the turns of all choices, by index, separated by commas',
    schema: { type: 'string' },
  },
};
const idParameter = (description: string): object => ({
  name: 'id',
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
});
const sessionHeaders = [
  {
    name: 'X-Session-Id',
    in: 'header',
    description: 'Session of the client; optional. Also `session_id` in the body',
    schema: { type: 'string' },
  },
  {
    name: 'X-Turn-Type',
    in: 'header',
    description: '`main` is captured, `side` is not. Also `turn_type` in the body',
    schema: { enum: ['main', 'side'] },
  },
  {
    name: 'X-Session-Done',
    in: 'header',
    description: 'The last request of the session. Also `session_done` in the body',
    schema: { type: 'boolean' },
  },
  {
    name: 'X-Hindcast-Train',
    in: 'header',
    description:
      '`0`, `false` or `no`: nothing of the request is stored for training, nor used as what came after an earlier answer. Also `train` in the body',
    schema: { type: 'boolean' },
  },
];
const counts = { type: 'object', additionalProperties: { type: 'integer' } };

const passThroughErrors = {
  400: error('The body is no JSON object, or the engine refuses it'),
  404: error('Unknown model'),
  413: error('The body is larger than MAX_BODY_BYTES'),
  502: error('The engine cannot be reached, broke off, or refuses the gateway’s key'),
  503: error('The engines are left alone for a moment; Retry-After says how long'),
  504: error('The engine did not answer in time'),
};

interface OperationDoc {
  readonly summary: string;
  readonly [field: string]: unknown;
}

const paths: Record<string, Record<string, OperationDoc>> = {
  '/v1/chat/completions': {
    post: {
      summary:
        'Chat completion, streamed or whole, as in OpenAI’s API; all further fields go to the engine as they are',
      parameters: sessionHeaders,
      requestBody: {
        required: true,
        ...json({
          type: 'object',
          required: ['messages'],
          properties: {
            messages: { type: 'array', minItems: 1 },
            model: { type: 'string' },
            stream: { type: 'boolean' },
          },
        }),
      },
      responses: {
        200: { description: 'The engine’s answer', headers: turnIdHeader },
        400: error('The request is not a chat request'),
        404: error('Unknown model, with STRICT_MODEL=1'),
        413: error('The body is larger than MAX_BODY_BYTES'),
        502: error('The engine cannot be reached or broke off'),
        503: error('The engines are left alone for a moment; Retry-After says how long'),
        504: error('The engine did not answer in time'),
      },
    },
  },
  '/v1/messages': {
    post: {
      summary: 'Anthropic’s Messages API, streamed or whole, answered by way of chat completions; see docs/clients.md',
      parameters: sessionHeaders,
      requestBody: {
        required: true,
        ...json({
          type: 'object',
          required: ['messages', 'max_tokens'],
          properties: {
            messages: { type: 'array', minItems: 1 },
            max_tokens: { type: 'integer', minimum: 1 },
            model: { type: 'string' },
            system: { type: ['string', 'array'] },
            tools: { type: 'array' },
            stream: { type: 'boolean' },
          },
        }),
      },
      responses: {
        200: { description: 'A message, or the events of one', headers: turnIdHeader },
        400: messagesError('The request cannot be expressed in chat completions'),
        404: messagesError('Unknown model, with STRICT_MODEL=1'),
        413: messagesError('The body is larger than MAX_BODY_BYTES'),
        429: messagesError('The limit of the key or of the engine'),
        502: messagesError('The engine cannot be reached or broke off'),
        504: messagesError('The engine did not answer in time'),
      },
    },
  },
  '/v1/messages/count_tokens': {
    post: {
      summary: 'Tokens of a conversation’s prompt, as the engine counts them',
      requestBody: {
        required: true,
        ...json({
          type: 'object',
          required: ['messages'],
          properties: { messages: { type: 'array', minItems: 1 }, model: { type: 'string' }, tools: { type: 'array' } },
        }),
      },
      responses: {
        200: {
          description: 'The count',
          ...json({ type: 'object', properties: { input_tokens: { type: 'integer' } } }),
        },
        400: messagesError('No conversation'),
        501: messagesError('The engines’ dialect cannot count'),
        502: messagesError('The engine cannot be reached'),
      },
    },
  },
  '/v1/responses': {
    post: {
      summary: 'OpenAI’s Responses API, streamed or whole, answered by way of chat completions; see docs/clients.md',
      parameters: sessionHeaders,
      requestBody: {
        required: true,
        ...json({
          type: 'object',
          required: ['input'],
          properties: {
            input: { type: ['string', 'array'], description: 'A text, or items' },
            instructions: { type: ['string', 'null'] },
            previous_response_id: { type: ['string', 'null'], description: 'A captured response to go on from' },
            model: { type: 'string' },
            tools: { type: 'array', description: 'Functions and custom tools' },
            stream: { type: 'boolean' },
          },
        }),
      },
      responses: {
        200: { description: 'The response, or its events', headers: turnIdHeader },
        400: error('Not a request of the API, or one for what only OpenAI’s own servers can do'),
        404: error('Unknown model, with STRICT_MODEL=1, or an item that is not known'),
        413: error('The body is larger than MAX_BODY_BYTES'),
        502: error('The engine cannot be reached or broke off'),
        503: error('An earlier response is named and NATS is away'),
        504: error('The engine did not answer in time'),
      },
    },
  },
  '/v1/responses/{id}': {
    get: {
      summary: 'A captured response: its output and usage; of its request the model, the tools and the sampling',
      parameters: [idParameter('Response id')],
      responses: {
        200: { description: 'The response' },
        404: error('No such response, or one that was not captured'),
        503: error('NATS is away'),
      },
    },
  },
  '/v1/completions': {
    post: {
      summary: 'Text completion, handed to the engine and back as it is; never captured',
      requestBody: {
        required: true,
        ...json({
          type: 'object',
          properties: { model: { type: 'string' }, prompt: {}, stream: { type: 'boolean' } },
        }),
      },
      responses: { 200: { description: 'The engine’s answer, streamed or whole' }, ...passThroughErrors },
    },
  },
  '/v1/embeddings': {
    post: {
      summary: 'Embeddings by the model that is named, handed to the engine and back as it is',
      requestBody: {
        required: true,
        ...json({ type: 'object', properties: { model: { type: 'string' }, input: {} } }),
      },
      responses: { 200: { description: 'The engine’s answer' }, ...passThroughErrors },
    },
  },
  '/v1/models': {
    get: { summary: 'Models of the engines', responses: { 200: { description: 'As the engines list them' } } },
  },
  '/v1/turns/{id}': {
    get: {
      summary: 'What became of a turn',
      parameters: [idParameter('Turn id or response id')],
      responses: {
        200: { description: 'The turn', ...json({ $ref: '#/components/schemas/Turn' }) },
        404: error('No such turn'),
        503: error('The ledger does not answer'),
      },
    },
  },
  '/v1/status': {
    get: {
      summary: 'The books: turns, cases, reasons, waiting samples',
      responses: {
        200: { description: 'The books', ...json({ $ref: '#/components/schemas/Status' }) },
        503: error('The ledger does not answer'),
      },
    },
  },
  '/v1/feedback': {
    post: {
      summary: 'What a person says of an answer',
      requestBody: { required: true, ...json({ $ref: '#/components/schemas/Feedback' }) },
      responses: {
        200: {
          description: '`late` when the turn had been decided already',
          ...json({
            type: 'object',
            properties: { turn_id: { type: 'string' }, status: { enum: ['accepted', 'late'] } },
          }),
        },
        404: error('No such turn'),
      },
    },
  },
  '/v1/sessions/{id}/end': {
    post: {
      summary: 'Ends a session: its open turns will get no next state',
      parameters: [idParameter('The client’s session id')],
      responses: { 200: { description: 'Ended' } },
    },
  },
  '/healthz': { get: { summary: 'The process is alive', responses: { 200: { description: 'Alive' } } } },
  '/readyz': {
    get: {
      summary: 'Whether requests are served, and what is away',
      responses: { 200: { description: 'Ready' }, 503: { description: 'Not ready' } },
    },
  },
  '/metrics': { get: { summary: 'Prometheus metrics', responses: { 200: { description: 'Text' } } } },
};

export const openApi = {
  openapi: '3.1.0',
  info: {
    title: 'Hindcast gateway',
    version: '1',
    description: 'An OpenAI-compatible endpoint that trains the model behind it.',
  },
  security: [{ apiKey: [] }],
  paths,
  components: {
    securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } },
    schemas: {
      Error: {
        type: 'object',
        properties: {
          error: {
            type: 'object',
            properties: {
              message: { type: 'string' },
              type: { type: 'string' },
              code: { type: ['string', 'number', 'null'] },
              param: { type: ['string', 'null'] },
            },
          },
        },
      },
      MessagesError: {
        type: 'object',
        properties: {
          type: { const: 'error' },
          error: {
            type: 'object',
            properties: {
              type: { type: 'string' },
              message: { type: 'string' },
              details: { type: 'object', properties: { error_code: { type: 'string' } } },
            },
          },
        },
      },
      Turn: {
        type: 'object',
        properties: {
          turnId: { type: 'string' },
          responseId: { type: 'string' },
          state: { enum: ['open', 'paired', 'judged', 'decided', 'trained', 'closed'] },
          case: { enum: ['opdRl', 'opd', 'rl', 'drop', null] },
          reason: { type: ['string', 'null'] },
          policyVersion: { type: 'integer' },
          evalScore: { enum: [-1, 0, 1, null] },
          hint: { type: ['string', 'null'] },
          trainedIn: { type: ['integer', 'null'] },
        },
      },
      Status: {
        type: 'object',
        properties: {
          turns: counts,
          cases: counts,
          reasons: counts,
          waitingSamples: { type: 'integer' },
          batchSize: { type: ['integer', 'null'] },
          policyVersion: { type: 'integer' },
        },
      },
      Feedback: {
        type: 'object',
        required: ['reward'],
        properties: {
          turn_id: { type: 'string' },
          response_id: { type: 'string' },
          reward: { enum: [-1, 0, 1] },
          comment: { type: 'string' },
          correction: { type: 'string', description: 'What the answer should have been' },
        },
      },
    },
  },
} as const;

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

export function openApiPage(): string {
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) =>
        `<tr><td>${method.toUpperCase()}</td><td><code>${escapeHtml(path)}</code></td><td>${escapeHtml(operation.summary)}</td></tr>`,
    ),
  );
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Hindcast gateway</title>
<style>body{font:16px/1.5 system-ui;margin:2rem auto;max-width:60rem;padding:0 1rem}td{padding:.3rem .8rem .3rem 0;vertical-align:top}</style>
<h1>Hindcast gateway</h1>
<p>The whole interface as OpenAPI 3.1: <a href="/docs/openapi.json">/docs/openapi.json</a></p>
<table>${rows.join('\n')}</table>
</html>
`;
}
