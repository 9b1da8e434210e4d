import type { TurnsQuery } from '@hindcast/contracts';
import type { Place } from './core/cursor';
import { storableText } from './ledger-commit';

export type TurnFilter = Omit<TurnsQuery, 'text' | 'before' | 'limit'>;

/**
 * Which index a list of turns follows, newest first, so that it reads little more than it shows:
 * `session`: all turns of the session, which are few. `group`: turns of the states, cases and reasons that are asked for, one row of the
 * counts after the other. `version`: turns that a version answered. `all`: every turn. All but `session` go tenant by tenant.
 */
export type TurnSource = 'session' | 'group' | 'version' | 'all';

/** A statement's values as they are collected; each gets its parameter. */
export class Values {
  readonly list: unknown[] = [];

  add(value: unknown, type: string): string {
    this.list.push(value);
    return `$${this.list.length}::${type}`;
  }
}

export const STATE = 'turn_state(t."trainedIn", t.ending, t."case", t.judged)';
const GROUP = 'turn_group(t."trainedIn", t.ending, t."case", t.judged, t.reason)';
const NEWEST_FIRST = 'ORDER BY "createdAt" DESC, id DESC';

/** What a list shows of a turn; times in milliseconds. */
export const ROW = `t.id AS "turnId", t."responseId", t.tenant, t."sessionId", ${millis('t."createdAt"')} AS "createdAt",
  ${millis('t."updatedAt"')} AS "updatedAt", ${STATE} AS state, t."case", t.reason, t."policyVersion", t.model, t."promptTokens",
  t."completionTokens", d."evalScore", d.reward, d.hint IS NOT NULL AS "hasHint", t."trainedIn", x.request, x.answer`;
export const ROW_TABLES = `LEFT JOIN decisions d ON d."turnId" = t.id LEFT JOIN turn_texts x ON x."turnId" = t.id`;

function millis(column: string): string {
  return `round(extract(epoch FROM ${column}) * 1000)::float8`;
}

/** The tenants that an answer may tell of. */
export const tenantsSql = (tenant: string | null, values: Values): string =>
  `SELECT DISTINCT tenant FROM turn_counts WHERE ${tenant === null ? 'true' : `tenant = ${values.add(tenant, 'text')}`}`;

/** States, cases and reasons that the filter lets through, with their tenants. */
export function groupsSql(filter: TurnFilter, values: Values): string {
  const { tenant, state, case: gateCase, reason } = filter;
  const conditions = ['true'];
  if (tenant !== null) conditions.push(`tenant = ${values.add(tenant, 'text')}`);
  if (state !== null) conditions.push(`state = ${values.add(state, 'text')}`);
  if (gateCase !== null) conditions.push(`"case" = ${values.add(gateCase, 'text')}`);
  if (reason !== null) conditions.push(reasonSql('reason', reason, values));
  return `SELECT tenant, state || '/' || "case" || '/' || reason AS "group", sum(turns) AS turns FROM turn_counts
    WHERE ${conditions.join(' AND ')} GROUP BY tenant, state, "case", reason HAVING sum(turns) > 0`;
}

function reasonSql(column: string, given: string, values: Values): string {
  const reason = storableText(given);
  return reason.endsWith('*')
    ? `starts_with(${column}, ${values.add(reason.slice(0, -1), 'text')}) AND ${column} <> ''`
    : `${column} = ${values.add(reason, 'text')}`;
}

/** Conditions on `t` that a source does not meet by itself. */
export function filterSql(
  filter: TurnFilter,
  source: TurnSource | 'none',
  before: Place | null,
  values: Values,
): string {
  const { tenant, state, case: gateCase, reason, sessionId, policyVersion } = filter;
  const conditions = ['true'];
  const isOwn = source !== 'session' && source !== 'none';
  if (tenant !== null && !isOwn) conditions.push(`t.tenant = ${values.add(tenant, 'text')}`);
  if (source !== 'group') {
    if (state !== null) conditions.push(`${STATE} = ${values.add(state, 'text')}`);
    if (gateCase !== null) conditions.push(`t."case" = ${values.add(gateCase, '"GateCase"')}`);
    if (reason !== null) conditions.push(reasonSql('t.reason', reason, values));
  }
  if (sessionId !== null && source !== 'session') conditions.push(`t."sessionId" = ${values.add(sessionId, 'text')}`);
  if (policyVersion !== null && source !== 'version')
    conditions.push(`t."policyVersion" = ${values.add(policyVersion, 'int')}`);
  if (before !== null)
    conditions.push(
      `(t."createdAt", t.id) < (${values.add(new Date(before.at).toISOString(), 'timestamptz')}, ${values.add(before.id, 'text')})`,
    );
  return conditions.join(' AND ');
}

/** The newest `limit` turns of a source that the filter lets through, as id and time. */
export function pageSql(
  filter: TurnFilter,
  source: TurnSource,
  before: Place | null,
  limit: number,
  values: Values,
): string {
  const rest = filterSql(filter, source, before, values);
  const count = values.add(limit, 'int');
  if (source === 'session') {
    const session = `SELECT * FROM turns WHERE "sessionId" = ${values.add(filter.sessionId, 'text')} OFFSET 0`;
    return `SELECT t.id, t."createdAt" FROM (${session}) t WHERE ${rest} ${NEWEST_FIRST} LIMIT ${count}`;
  }
  const [places, own] = placesSql(filter, source, values);
  return `SELECT one.id, one."createdAt" FROM (${places}) place CROSS JOIN LATERAL (
      SELECT t.id, t."createdAt" FROM turns t WHERE t.tenant = place.tenant AND ${own} AND ${rest}
      ORDER BY t."createdAt" DESC, t.id DESC LIMIT ${count}
    ) one ${NEWEST_FIRST} LIMIT ${count}`;
}

function placesSql(filter: TurnFilter, source: TurnSource, values: Values): [places: string, own: string] {
  if (source === 'group') return [groupsSql(filter, values), `${GROUP} = place."group"`];
  const own = source === 'version' ? `t."policyVersion" = ${values.add(filter.policyVersion, 'int')}` : 'true';
  return [tenantsSql(filter.tenant, values), own];
}
