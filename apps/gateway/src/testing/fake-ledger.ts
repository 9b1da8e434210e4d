import {
  encodeIds,
  encodeLogProbs,
  queries,
  type LedgerOverview,
  type QueryName,
  type TurnDetail,
  type TurnRow,
} from '@hindcast/contracts';
import type { QueryOf, ReplyOf } from '@hindcast/platform';
import { headers, type NatsConnection, type Subscription } from '@nats-io/nats-core';

type Answers = { [Q in QueryName]?: (question: QueryOf<Q>) => ReplyOf<Q> };

/** Stands for the dispatcher on a real bus: reads questions and writes answers with the contracts' own schemas. */
export class FakeLedger {
  /** What was asked, in order. */
  readonly asked: { readonly query: QueryName; readonly question: unknown }[] = [];
  answers: Answers = {};
  private readonly subscriptions: Subscription[];

  private constructor(connection: NatsConnection) {
    this.subscriptions = (Object.keys(queries) as QueryName[]).map((query) =>
      connection.subscribe(queries[query].subject, {
        callback: (_, message) => {
          const question = queries[query].request.parse(message.json());
          this.asked.push({ query, question });
          const answer = this.answers[query] as ((question: unknown) => unknown) | undefined;
          if (answer) return void message.respond(JSON.stringify(queries[query].reply.parse(answer(question))));
          const failure = headers();
          failure.set('Nats-Service-Error', 'the ledger failed');
          message.respond('{}', { headers: failure });
        },
      }),
    );
  }

  static async start(connection: NatsConnection): Promise<FakeLedger> {
    const ledger = new FakeLedger(connection);
    await connection.flush();
    return ledger;
  }

  questions<Q extends QueryName>(query: Q): QueryOf<Q>[] {
    return this.asked.filter((asked) => asked.query === query).map(({ question }) => question as QueryOf<Q>);
  }

  stop(): void {
    for (const subscription of this.subscriptions) subscription.unsubscribe();
  }
}

export const overviewAnswer = (change: Partial<LedgerOverview> = {}): LedgerOverview => ({
  status: {
    turns: { captured: 3, paired: 2, untrainable: 0, expired: 0, superseded: 0, failed: 0, open: 1 },
    cases: { opdRl: 1, opd: 0, rl: 1, drop: 0, deciding: 0 },
    reasons: {},
    waitingSamples: 2,
    samplesTrained: 0,
    steps: 0,
    versionsPublished: 0,
    policyVersion: 0,
  },
  flow: {
    captured: 3,
    paired: 2,
    hinted: 1,
    unhinted: 1,
    scored: 1,
    ready: 2,
    trained: 0,
    refused: 0,
    published: 0,
  },
  pending: { 'judge-svc--rl-v1-turn-paired': 0 },
  deadLetters: 0,
  policySince: null,
  turnsRevision: '1',
  ...change,
});

export const turnRow = (change: Partial<TurnRow> = {}): TurnRow => ({
  turnId: '7f9c24e8-3b12-4fef-91e0-56a2d5a0c3b1',
  responseId: 'chatcmpl-1',
  tenant: 'ann',
  sessionId: '0123456789abcdef',
  createdAt: 1_796_000_000_000,
  updatedAt: 1_796_000_000_500,
  state: 'decided',
  case: 'opdRl',
  reason: null,
  policyVersion: 3,
  model: 'seed',
  promptTokens: 3,
  completionTokens: 2,
  evalScore: 1,
  reward: 1,
  hasHint: true,
  trainedIn: null,
  request: 'What is a planet?',
  answer: 'A large body.',
  ...change,
});

/** A decided turn of two tokens, 104 and 105, whose teacher finds the first likelier and the second less likely. */
export const turnDetail = (change: Partial<TurnDetail> = {}): TurnDetail => ({
  turn: turnRow(),
  conversation: [{ role: 'user', text: 'What is a planet?', toolName: null }],
  answer: 'A large body.',
  nextState: [{ role: 'user', text: 'Thanks.', toolName: null }],
  votes: [],
  decision: {
    case: 'opdRl',
    reward: 1,
    reason: null,
    method: 'combine',
    evalScore: 1,
    hint: 'Name an example.',
    rewardSource: 'votes',
    judgeModel: 'judge',
    promptVersion: '1',
    judgeLatencyMs: 40,
    teacherModel: 'seed',
    verdicts: [],
    guards: [],
    policyVersion: 3,
    currentVersion: 3,
    at: 1_796_000_000_500,
  },
  feedback: null,
  tokens: {
    ids: encodeIds([104, 105]),
    rollout: encodeLogProbs([-0.5, -1.5]),
    teacher: encodeLogProbs([-0.25, -2]),
  },
  trained: null,
  detail: null,
  ...change,
});
