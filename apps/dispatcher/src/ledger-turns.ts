import { Injectable } from '@nestjs/common';
import type { TurnRow, TurnsPage, TurnsQuery } from '@hindcast/contracts';
import { cursorOf, placeOf, type Place } from './core/cursor';
import { Database } from './database';
import { storableText } from './ledger-commit';
import {
  ROW,
  ROW_TABLES,
  Values,
  filterSql,
  groupsSql,
  pageSql,
  type TurnFilter,
  type TurnSource,
} from './turn-list-sql';

/** As it stands in a cursor. */
const TURN_ID = /^[\w-]+$/;
/** Turns of fewer than this are gone through for their version; of more, the version's own are. */
const FEW = 20_000;
/** Newest turns whose texts are looked through before the index of words is asked: a common word is among them. */
const LOOKED_THROUGH = 4_000;
/** Of each state, case and reason where the filter names such. */
const LOOKED_THROUGH_OF_GROUP = 1_000;
/** So many windows further on the rest of the page is worth looking for there, before the index of words is asked. */
const NEAR_WINDOWS = 3;
/** Turns with a word that are sorted at once. */
const SORTED = 10_000;
/** Times that texts are looked through on behalf of one question; a page may then be shorter than asked for. */
const ROUNDS = 6;

interface Walk {
  readonly rows: readonly TurnRow[];
  readonly walked: number;
  /** The oldest turn that was looked at. */
  readonly last: Place | null;
}

/** The list of turns. */
@Injectable()
export class LedgerTurns {
  constructor(private readonly database: Database) {}

  /**
   * A page of turns, newest first.
   *
   * @throws HindcastError `invalid-request` when `before` is no cursor
   * @throws DependencyUnavailable when the database is away
   */
  async page({ text, before, limit, ...filter }: TurnsQuery): Promise<TurnsPage> {
    const place = before === null ? null : placeOf(before, TURN_ID);
    const source = await this.sourceOf(filter);
    // One more tells whether there is a next page.
    if (text === null) return pageOf(await this.rows(filter, source, place, limit + 1), limit);
    return this.search(filter, source, storableText(text), place, limit);
  }

  private async sourceOf(filter: TurnFilter): Promise<TurnSource> {
    const { state, case: gateCase, reason, sessionId, policyVersion } = filter;
    if (sessionId !== null) return 'session';
    const isGrouped = state !== null || gateCase !== null || reason !== null;
    if (policyVersion === null) return isGrouped ? 'group' : 'all';
    if (!isGrouped) return 'version';
    const values = new Values();
    const sql = `SELECT COALESCE(sum(turns), 0)::float8 AS turns FROM (${groupsSql(filter, values)}) found`;
    const [found] = await this.database.sql<{ turns: number }>({ text: sql }, values.list);
    return found!.turns < FEW ? 'group' : 'version';
  }

  private rows(filter: TurnFilter, source: TurnSource, before: Place | null, limit: number): Promise<TurnRow[]> {
    const values = new Values();
    const page = pageSql(filter, source, before, limit, values);
    const text = `WITH page AS MATERIALIZED (${page})
      SELECT ${ROW} FROM page JOIN turns t USING (id) ${ROW_TABLES} ORDER BY t."createdAt" DESC, t.id DESC`;
    return this.database.sql<TurnRow>({ text }, values.list);
  }

  /**
   * A word may be in every turn or in one of a million. The newest turns are looked through, which finds the common words; then the index
   * of words is asked, which knows the rare ones. A word that many old turns have and no new ones is looked for further down, a bounded
   * number of turns for each question.
   */
  private async search(
    filter: TurnFilter,
    source: TurnSource,
    text: string,
    before: Place | null,
    limit: number,
  ): Promise<TurnsPage> {
    const rows: TurnRow[] = [];
    const window = source === 'group' ? LOOKED_THROUGH_OF_GROUP : LOOKED_THROUGH;
    let from = before;
    let isLookedUp = false;
    for (let round = 0; round < ROUNDS; round++) {
      const { rows: found, walked, last } = await this.lookThrough(filter, source, text, from, window, limit + 1);
      rows.push(...found);
      if (rows.length > limit || walked < window) return pageOf(rows, limit);
      // As many windows again as the turns found so far make likely.
      const windows = rows.length === 0 ? Infinity : ((round + 1) * (limit + 1 - rows.length)) / rows.length;
      if (!isLookedUp && windows > NEAR_WINDOWS) {
        isLookedUp = true;
        const known = await this.lookUp(filter, text, before, limit + 1);
        if (known !== null) return pageOf(known, limit);
      }
      from = last;
    }
    return { turns: rows, next: from && cursorOf(from) };
  }

  private async lookThrough(
    filter: TurnFilter,
    source: TurnSource,
    text: string,
    before: Place | null,
    window: number,
    limit: number,
  ): Promise<Walk> {
    const values = new Values();
    const page = pageSql(filter, source, before, window, values);
    const sql = `WITH walked AS MATERIALIZED (${page}), hit AS MATERIALIZED (
        SELECT w.id, w."createdAt" FROM walked w
        CROSS JOIN LATERAL (SELECT words FROM turn_texts x WHERE x."turnId" = w.id OFFSET 0) x
        WHERE x.words @@ plainto_tsquery('simple', ${values.add(text, 'text')})
        ORDER BY w."createdAt" DESC, w.id DESC LIMIT ${values.add(limit, 'int')}
      ), shown AS (
        SELECT ${ROW} FROM hit JOIN turns t USING (id) ${ROW_TABLES} ORDER BY t."createdAt" DESC, t.id DESC
      )
      SELECT (SELECT count(*)::int FROM walked) AS walked,
        (SELECT json_build_object('at', round(extract(epoch FROM "createdAt") * 1000)::float8, 'id', id) FROM walked
          ORDER BY "createdAt", id LIMIT 1) AS last,
        (SELECT COALESCE(json_agg(shown), '[]') FROM shown) AS rows`;
    const [walk] = await this.database.sql<Walk>({ text: sql }, values.list);
    return walk!;
  }

  /** `null` when more turns have the words than can be sorted at once. */
  private async lookUp(
    filter: TurnFilter,
    text: string,
    before: Place | null,
    limit: number,
  ): Promise<TurnRow[] | null> {
    const values = new Values();
    const found = `SELECT x."turnId" FROM turn_texts x WHERE x.words @@ plainto_tsquery('simple', ${values.add(text, 'text')})
      LIMIT ${values.add(SORTED + 1, 'int')}`;
    const sql = `WITH found AS MATERIALIZED (${found}), hit AS MATERIALIZED (
        SELECT t.id, t."createdAt" FROM found
        CROSS JOIN LATERAL (SELECT * FROM turns WHERE turns.id = found."turnId" OFFSET 0) t
        WHERE ${filterSql(filter, 'none', before, values)}
        ORDER BY t."createdAt" DESC, t.id DESC LIMIT ${values.add(limit, 'int')}
      ), shown AS (
        SELECT ${ROW} FROM hit JOIN turns t USING (id) ${ROW_TABLES} ORDER BY t."createdAt" DESC, t.id DESC
      )
      SELECT (SELECT count(*)::int FROM found) AS found, (SELECT COALESCE(json_agg(shown), '[]') FROM shown) AS rows`;
    const [answer] = await this.database.transaction<{ found: number; rows: TurnRow[] }>([
      // How often words stand beside each other nobody knows beforehand; reading all texts is the wrong guess that takes seconds.
      [{ text: 'SET LOCAL enable_seqscan = off' }, []],
      [{ text: sql }, values.list],
    ]);
    return answer!.found > SORTED ? null : answer!.rows;
  }
}

function pageOf(rows: readonly TurnRow[], limit: number): TurnsPage {
  const turns = rows.slice(0, limit);
  const last = turns.at(-1);
  return { turns, next: rows.length > limit && last ? cursorOf({ at: last.createdAt, id: last.turnId }) : null };
}
