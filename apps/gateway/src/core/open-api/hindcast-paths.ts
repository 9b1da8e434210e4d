import { LedgerStatus, TurnStory } from '@hindcast/contracts';
import { z } from 'zod';
import { FeedbackRequest } from '../feedback-request';
import { OutcomeRequest } from '../outcome-request';
import { bodyOf, type Operation, type Paths } from './operation';
import { idParameter } from './own-fields';
import { errors, guarded, json, withBody, withId, type Reply } from './replies';
import { exactly, field, fromZod, listOf, oneOfValues, reference, type Fields } from './schema';

export const hindcastSchemas: Fields = {
  Turn: fromZod(TurnStory, 'output', {
    state: 'How far it is',
    case: 'Row of the gate; null until decided',
    reason: 'Why it was dropped, closed or refused; null when there is nothing to explain',
    policyVersion: 'Version of the policy that answered',
    evalScore: 'What the judge’s votes say of the answer',
    hint: 'What the answer should have known',
    trainedIn: 'Version of the policy that was trained on it',
  }),
  Status: fromZod(LedgerStatus.extend({ batchSize: z.int().positive().nullable() }), 'output', {
    turns: 'captured = paired + untrainable + expired + superseded + failed + open',
    cases: 'paired = opdRl + opd + rl + drop + deciding',
    reasons: 'Count by reason: drops, untrainable turns, refusals, dead letters',
    waitingSamples: 'Samples that no version accounts for yet',
    batchSize: 'Samples of a training step; null until a trainer has started',
  }),
  Feedback: {
    ...fromZod(FeedbackRequest, 'input', {
      turn_id: 'Of the header x-hindcast-turn-id',
      response_id: 'Id of the answer',
      reward: '1: it was good; −1: it was not',
      correction: 'What the answer should have been; it becomes the hint',
    }),
    oneOf: [{ required: ['turn_id'] }, { required: ['response_id'] }],
  },
  Outcome: fromZod(OutcomeRequest, 'input', {
    reward: '−1: the session failed; 1: it succeeded; or anything between',
    comment: 'Why; it is stored, and read by nobody but people',
  }),
};

const text = (description: string, type: string): Reply => ({
  description,
  content: { [type]: { schema: { type: 'string' } } },
});
const open = { security: [] } as const satisfies Partial<Operation>;
/** Nothing but the start is in the way of these. */
const starting = errors('own', { 503: guarded[503] });
const document: Operation['responses'] = {
  200: json('This document', { type: 'object', required: ['openapi'] }),
  ...starting,
};
const readiness = exactly({
  ready: field('boolean'),
  waiting: listOf(field('string'), 'What has to come first, each with its reason'),
  degraded: listOf(field('string'), 'What is away while requests are served all the same'),
  durability: oneOfValues(['process-death', 'power-loss', null], 'What stored turns survive; null while NATS is away'),
});

export const hindcastPaths: Paths = {
  '/v1/turns/{id}': {
    get: {
      operationId: 'retrieveTurn',
      tags: ['Turns'],
      summary: 'What became of a turn',
      parameters: [idParameter('Turn id, or id of the answer')],
      responses: {
        200: json('The turn', reference('Turn')),
        ...errors('own', { ...guarded, ...withId, 404: 'There is no such turn', 503: 'The ledger does not answer' }),
      },
    },
  },
  '/v1/feedback': {
    post: {
      operationId: 'giveFeedback',
      tags: ['Turns'],
      summary: 'What a person says of an answer',
      description: 'The same feedback given again changes nothing; another one replaces it until the turn is decided.',
      requestBody: bodyOf(reference('Feedback')),
      responses: {
        200: json(
          'Stored; `late` when the turn had been decided before',
          exactly({ turn_id: field('string'), status: oneOfValues(['accepted', 'late']) }),
        ),
        ...errors('own', { ...guarded, ...withBody, 404: 'There is no such turn', 503: 'NATS or the ledger is away' }),
      },
    },
  },
  '/v1/sessions/{id}/end': {
    post: {
      operationId: 'endSession',
      tags: ['Turns'],
      summary: 'Ends a session: its open turns will get no next state',
      parameters: [idParameter('The client’s session id')],
      responses: {
        200: json('Ended, whether or not it was known', exactly({ ended: { const: true } })),
        ...errors('own', {
          ...guarded,
          ...withBody,
          400: 'The path is no readable URL, or a body came that is no JSON',
        }),
      },
    },
  },
  '/v1/sessions/{id}/outcome': {
    post: {
      operationId: 'giveOutcome',
      tags: ['Turns'],
      summary: 'How a session ended, as its environment says',
      description:
        'Decides the session’s turns that were marked with `session_outcome`; those that are still open are paired with an empty next state. The same outcome given again changes nothing; of different ones the first counts.',
      parameters: [idParameter('The client’s session id')],
      requestBody: bodyOf(reference('Outcome')),
      responses: {
        200: json(
          'Stored, whether or not the session was known',
          exactly({
            session_id: field('string', 'As it was given'),
            reward: field('number'),
            status: { const: 'recorded' },
          }),
        ),
        ...errors('own', { ...guarded, ...withBody, 503: 'It can be stored neither in NATS nor on disk' }),
      },
    },
  },
  '/v1/status': {
    get: {
      operationId: 'status',
      tags: ['Turns'],
      summary: 'The books of the key’s tenant: turns, cases, reasons, waiting samples',
      responses: {
        200: json('The books', reference('Status')),
        ...errors('own', { ...guarded, 503: 'The ledger does not answer' }),
      },
    },
  },
  '/healthz': {
    get: {
      operationId: 'healthz',
      tags: ['Operation'],
      summary: 'The process is alive',
      ...open,
      responses: { 200: json('Alive', exactly({ ok: { const: true } })) },
    },
  },
  '/readyz': {
    get: {
      operationId: 'readyz',
      tags: ['Operation'],
      summary: 'Whether requests are served, and what is away',
      ...open,
      responses: { 200: json('Ready', readiness), 503: json('Not ready', readiness) },
    },
  },
  '/metrics': {
    get: {
      operationId: 'metrics',
      tags: ['Operation'],
      summary: 'Metrics for Prometheus',
      ...open,
      responses: { 200: text('Prometheus’ text format', 'text/plain') },
    },
  },
  '/docs': {
    get: {
      operationId: 'docs',
      tags: ['Operation'],
      summary: 'This document as a page',
      ...open,
      responses: { 200: text('The page', 'text/html'), ...starting },
    },
  },
  '/openapi.json': {
    get: { operationId: 'openApi', tags: ['Operation'], summary: 'This document', ...open, responses: document },
  },
  '/docs/openapi.json': {
    get: { operationId: 'openApiOfDocs', tags: ['Operation'], summary: 'This document', ...open, responses: document },
  },
};
