import { chatFields, completionFields, embeddingFields } from './chat-fields';
import { body, type Paths } from './operation';
import { idParameter, ownFields, ownHeaders } from './own-fields';
import {
  answer,
  errors,
  guarded,
  json,
  limited,
  turnIdHeader,
  turnIdsHeader,
  withBody,
  withEngine,
  withId,
  withLimits,
} from './replies';
import { listOf, object, reference } from './schema';

const anyReply = { anyOf: [{ type: 'object' }, reference('Error')] };
const engineErrors = errors('engine', { ...guarded, ...withBody, ...withEngine, ...withLimits });
const ownUnauthorized = errors('own', { 401: guarded[401] });

export const chatPaths: Paths = {
  '/v1/chat/completions': {
    post: {
      operationId: 'createChatCompletion',
      tags: ['Models'],
      summary: 'Chat completion, streamed or whole, as in OpenAI’s API',
      description:
        'Every field goes to the engine as it is, also those that are not listed here; only Hindcast’s own stay. The answer’s bytes are the engine’s, less what only Hindcast had asked for.',
      parameters: ownHeaders,
      requestBody: body(['messages'], { ...chatFields, ...ownFields }),
      responses: limited({
        200: answer(
          reference('ChatCompletion'),
          { anyOf: [reference('ChatCompletionChunk'), reference('Error'), reference('EngineError')] },
          'A stream ends with `[DONE]`; one that breaks off ends with an event that holds `error`.',
          { ...turnIdHeader, ...turnIdsHeader },
        ),
        ...engineErrors,
        ...ownUnauthorized,
      }),
    },
  },
  '/v1/completions': {
    post: {
      operationId: 'createCompletion',
      tags: ['Models'],
      summary: 'Completion of a text: handed on to the engine, never captured',
      requestBody: body([], completionFields),
      responses: limited({
        200: answer(
          { type: 'object' },
          anyReply,
          'The events are the engine’s; a stream that breaks off ends with an event that holds `error`.',
          {},
        ),
        ...engineErrors,
        ...ownUnauthorized,
      }),
    },
  },
  '/v1/embeddings': {
    post: {
      operationId: 'createEmbedding',
      tags: ['Models'],
      summary: 'Embeddings: handed on to the engine, never captured',
      requestBody: body([], embeddingFields),
      responses: limited({
        200: json('The embeddings, as the engine gives them', { type: 'object' }),
        ...engineErrors,
        ...ownUnauthorized,
      }),
    },
  },
  '/v1/models': {
    get: {
      operationId: 'listModels',
      tags: ['Models'],
      summary: 'Models of all engines, adapters among them',
      responses: {
        200: json(
          'The models, as the engines list them',
          object(['object', 'data'], { object: { const: 'list' }, data: listOf(reference('Model')) }),
        ),
        ...errors('own', { ...guarded, 502: 'No engine answers' }),
      },
    },
  },
  '/v1/models/{id}': {
    get: {
      operationId: 'retrieveModel',
      tags: ['Models'],
      summary: 'One model of the engines',
      parameters: [idParameter('Name of the model')],
      responses: {
        200: json('The model, as its engine lists it', reference('Model')),
        ...errors('own', { ...guarded, ...withId, 404: 'No engine lists this model', 502: 'No engine answers' }),
      },
    },
  },
};
