import { applied, type Turn, type TurnEvent } from './turn';

/** An event of a turn, with what is stored beside it when it is news. */
export interface TurnNews<Rows> {
  readonly turnId: string;
  /** `null` when the message does not say. */
  readonly tenant: string | null;
  readonly event: TurnEvent;
  /** When the message was sent. */
  readonly at?: Date;
  readonly rows?: Rows;
}

/** What several events at once make of one turn. */
export interface Folded<Rows> {
  /** One revision ahead; `null` when none of the events is news. */
  readonly turn: Turn | null;
  /** Of each event, in order. */
  readonly isNews: readonly boolean[];
  readonly rows: readonly Rows[];
}

/** Applies the events of one turn in their order, so that all of them are one change of its row. */
export function folded<Rows>(before: Turn | null, events: readonly TurnNews<Rows>[]): Folded<Rows> {
  let turn = before;
  const isNews: boolean[] = [];
  const rows: Rows[] = [];
  for (const { turnId, tenant, event, at, rows: own } of events) {
    const after = applied(turn, turnId, tenant, event);
    isNews.push(after !== null);
    if (after === null) continue;
    if (own) rows.push(own);
    turn = at === undefined ? after : { ...after, createdAt: earlier(after.createdAt, at) };
  }
  if (turn === null || turn === before) return { turn: null, isNews, rows };
  return { turn: { ...turn, revision: (before?.revision ?? 0) + 1 }, isNews, rows };
}

const earlier = (known: Date | undefined, at: Date): Date => (known !== undefined && known <= at ? known : at);
