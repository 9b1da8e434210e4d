// What the dashboard's lists ask of the ledger, in the ledger's own classes.
import { queries } from '@hindcast/contracts';
import type { Nats, Log } from '@hindcast/platform';
import type { BusLag } from '../bus-lag';
import type { Database } from '../database';
import { DeadLetterDesk } from '../dead-letter-desk';
import { JudgeStatisticsReader } from '../judge-statistics';
import { LedgerOverviewReader } from '../ledger-overview';
import { LedgerTraining } from '../ledger-training';
import { LedgerTurns } from '../ledger-turns';

/** Asks once and returns how many rows the answer had. */
export interface Question {
  readonly name: string;
  ask(): Promise<number>;
}

type TurnFilter = Record<string, string | number | null>;

/** Pages that are turned before the one that is measured. */
const DEEP = 40;

const TURNS: readonly (readonly [name: string, filter: TurnFilter])[] = [
  ['turns', {}],
  ['turns of a tenant', { tenant: 'globex' }],
  ['turns of a small tenant', { tenant: 'tiny' }],
  ['turns open', { state: 'open' }],
  ['turns paired', { state: 'paired' }],
  ['turns judged', { state: 'judged' }],
  ['turns decided', { state: 'decided' }],
  ['turns trained', { state: 'trained' }],
  ['turns closed', { state: 'closed' }],
  ['turns of a case', { case: 'opd' }],
  ['turns of a reason', { reason: 'teacher:too-long' }],
  ['turns of reasons by their start', { reason: 'teacher:*' }],
  ['turns of an unknown reason', { reason: 'nothing-like-it' }],
  ['turns of a version', { policyVersion: 3 }],
  ['turns of a state, case, reason, version', { state: 'decided', case: 'drop', reason: 'stale', policyVersion: 150 }],
  ['turns trained of a version that is ready', { state: 'decided', case: 'opd', policyVersion: 20, tenant: 'acme' }],
  ['turns with a common word', { text: 'please' }],
  ['turns with two common words', { text: 'please baba' }],
  ['turns with a word of one in 200', { text: 'ledger' }],
  ['turns with a word of one in 200,000', { text: 'quokka' }],
  ['turns with a word of none', { text: 'zymurgy' }],
  ['turns of a small tenant with a common word', { text: 'please', tenant: 'tiny' }],
  ['turns of a reason with a common word', { text: 'please', reason: 'stale' }],
  ['turns of a version with a common word', { text: 'please', policyVersion: 3 }],
];

export async function questionsOf(database: Database, session: string): Promise<readonly Question[]> {
  const noBus = { consumers: () => Promise.resolve(new Map()) } as unknown as BusLag;
  const turns = new LedgerTurns(database);
  const training = new LedgerTraining(database);
  const judge = new JudgeStatisticsReader(database);
  const overview = new LedgerOverviewReader(database, noBus);
  // Its lists ask the database alone.
  const desk = new DeadLetterDesk(database, null as unknown as Nats, null as unknown as Log);
  const { request } = queries.turns;
  const page = async (filter: TurnFilter): Promise<number> => {
    const question = request.parse({ tenant: null, ...filter });
    return queries.turns.reply.parse(await turns.page(question)).turns.length;
  };
  let deep: string | null = null;
  for (let turned = 0; turned < DEEP; turned++)
    deep = (await turns.page(request.parse({ tenant: null, before: deep, limit: 200 }))).next ?? deep;
  return [
    ...TURNS.map(([name, filter]) => ({ name, ask: () => page(filter) })),
    { name: 'turns of a session', ask: () => page({ sessionId: session }) },
    { name: `turns, page ${DEEP * 4 + 1}`, ask: () => page({ before: deep }) },
    { name: 'turns, 200 at once', ask: () => page({ limit: 200 }) },
    {
      name: 'overview',
      ask: async () => queries.overview.reply.parse(await overview.overview(null)).status.turns.captured,
    },
    {
      name: 'overview of a tenant',
      ask: async () => queries.overview.reply.parse(await overview.overview('globex')).status.turns.captured,
    },
    {
      name: 'steps, 200',
      ask: async () => queries.steps.reply.parse(await training.steps({ before: null, limit: 200 })).steps.length,
    },
    {
      name: 'steps, 1000',
      ask: async () => queries.steps.reply.parse(await training.steps({ before: null, limit: 1_000 })).steps.length,
    },
    {
      name: 'versions',
      ask: async () =>
        queries.versions.reply.parse(await training.versions({ before: 120, limit: 200 })).versions.length,
    },
    ...[14, 90].map((days) => ({
      name: `judge, ${days} days`,
      ask: async () => queries.judge.reply.parse(await judge.of({ tenant: null, days })).days.length,
    })),
    {
      name: 'judge of a tenant, 90 days',
      ask: async () => queries.judge.reply.parse(await judge.of({ tenant: 'acme', days: 90 })).days.length,
    },
    ...[
      ['dead letters', {}],
      [
        'dead letters of a tenant, code and subject',
        { tenant: 'globex', code: 'contract-violation', subject: 'turn.scored' },
      ],
    ].map(([name, filter]) => ({
      name: name as string,
      ask: async () => {
        const query = queries.deadLetters.request.parse({ tenant: null, ...(filter as object) });
        return queries.deadLetters.reply.parse(await desk.list(query)).letters.length;
      },
    })),
  ];
}
