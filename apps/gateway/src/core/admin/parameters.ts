import {
  GateCase,
  TurnState,
  type DeadLettersQuery,
  type JudgeQuery,
  type StepsQuery,
  type TurnsQuery,
  type VersionsQuery,
} from '@hindcast/contracts';
import { z } from 'zod';

/** What is wrong with a request, and with which of its fields. */
export interface Fault {
  readonly message: string;
  readonly param: string | null;
}
export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault };

const text = (most: number) => z.string().min(1).max(most);
const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(least).max(most));
/** The ledger holds no larger ones. */
const version = whole(0, 2 ** 31 - 1);
const tenant = text(128).refine((name) => !name.includes('\0'), 'must be a name');
const cursor = text(200);

const Turns = z.strictObject({
  state: TurnState.optional(),
  case: GateCase.optional(),
  reason: text(200).optional(),
  session: z
    .string()
    .regex(/^[0-9a-f]{16,64}$/, 'must be the hash of a session, as turns show it')
    .optional(),
  tenant: tenant.optional(),
  version: version.optional(),
  text: text(200).optional(),
  before: cursor.optional(),
  limit: whole(1, 200).optional(),
});
const Steps = z.strictObject({ before: version.optional(), limit: whole(1, 1_000).optional() });
const Versions = z.strictObject({ before: version.optional(), limit: whole(1, 200).optional() });
const Judge = z.strictObject({ days: whole(1, 90).optional(), tenant: tenant.optional() });
const DeadLetters = z.strictObject({
  code: text(200).optional(),
  subject: text(200).optional(),
  tenant: tenant.optional(),
  before: cursor.optional(),
  limit: whole(1, 200).optional(),
});
const Letter = z.strictObject({
  sequence: whole(1, Number.MAX_SAFE_INTEGER),
  at: whole(0, Number.MAX_SAFE_INTEGER),
});

const Rollback = z.strictObject({
  version: z.int('must be a version, a whole number').nonnegative('must be a version, a whole number'),
  reason: z.string('must be a text').max(500, 'must be a text of at most 500 characters').nullish(),
});
const Replay = z.strictObject({ force: z.boolean('must be true or false').default(false) });
const Discard = z.strictObject({});

/** The query of `GET /admin/v1/turns`. An empty parameter counts as none. */
export const turnsQuery = (raw: unknown): Read<TurnsQuery> =>
  mapped(read(Turns, withoutEmpty(raw)), (given) => ({
    tenant: given.tenant ?? null,
    state: given.state ?? null,
    case: given.case ?? null,
    reason: given.reason ?? null,
    sessionId: given.session ?? null,
    policyVersion: given.version ?? null,
    text: given.text ?? null,
    before: given.before ?? null,
    limit: given.limit ?? 50,
  }));

export const stepsQuery = (raw: unknown): Read<StepsQuery> =>
  mapped(read(Steps, withoutEmpty(raw)), ({ before = null, limit = 200 }) => ({ before, limit }));

export const versionsQuery = (raw: unknown): Read<VersionsQuery> =>
  mapped(read(Versions, withoutEmpty(raw)), ({ before = null, limit = 50 }) => ({ before, limit }));

export const judgeQuery = (raw: unknown): Read<JudgeQuery> =>
  mapped(read(Judge, withoutEmpty(raw)), (given) => ({ tenant: given.tenant ?? null, days: given.days ?? 14 }));

export const deadLettersQuery = (raw: unknown): Read<DeadLettersQuery> =>
  mapped(read(DeadLetters, withoutEmpty(raw)), (given) => ({
    tenant: given.tenant ?? null,
    code: given.code ?? null,
    subject: given.subject ?? null,
    before: given.before ?? null,
    limit: given.limit ?? 50,
  }));

/** Which dead letter a path means; `null` when it can mean none. */
export function letterOf(path: unknown): { sequence: number; at: number } | null {
  const parsed = Letter.safeParse(path);
  return parsed.success ? parsed.data : null;
}

export const rollbackBody = (body: unknown): Read<{ version: number; reason: string | null }> =>
  mapped(read(Rollback, body), ({ version, reason }) => ({ version, reason: reason ?? null }));
export const replayBody = (body: unknown): Read<{ force: boolean }> => read(Replay, body);
export const discardBody = (body: unknown): Read<object> => read(Discard, body);

function read<S extends z.ZodType>(schema: S, raw: unknown): Read<z.infer<S>> {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return { ok: true, value: parsed.data };
  const issue = parsed.error.issues[0]!;
  if (issue.code === 'unrecognized_keys') {
    const [unknown] = issue.keys;
    return { ok: false, fault: { message: `${unknown} is not known here`, param: unknown ?? null } };
  }
  const param = issue.path.length > 0 ? issue.path.join('.') : null;
  return { ok: false, fault: { message: param === null ? issue.message : `${param}: ${issue.message}`, param } };
}

const mapped = <A, B>(given: Read<A>, map: (value: A) => B): Read<B> =>
  given.ok ? { ok: true, value: map(given.value) } : given;

/** A form sends its empty fields, too. */
const withoutEmpty = (raw: unknown): unknown =>
  Object.fromEntries(Object.entries((raw ?? {}) as object).filter(([, value]) => value !== ''));
